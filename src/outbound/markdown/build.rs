//! Builds blocks from a stream of opened and closed elements.
//!
//! Owns the bound on nesting: deeper containers are left out, their text is kept in the one around.

use weirgate_sdk::answer::{Alignment, Block, Inline, plain_text};

/// Containers and spans inside each other; what is deeper is flattened.
const MAX_DEPTH: usize = 24;

/// An element that can be opened.
#[derive(Debug)]
pub(super) enum Open {
    Root,
    Paragraph,
    Heading(u8),
    List(Option<u64>),
    Item,
    Quote,
    Code(Option<String>),
    Table(Vec<Alignment>),
    Head,
    Row,
    Cell,
    Strong,
    Emphasis,
    Strike,
    Link {
        url: String,
        title: Option<String>,
    },
    Image(String),
    CodeSpan,
    /// A marker that stays as text before and after.
    Literal(&'static str),
}

impl Open {
    /// Leaf blocks do not nest, so they are never left out.
    fn is_leaf(&self) -> bool {
        use Open::{Cell, Code, Head, Heading, Paragraph, Row, Table};
        matches!(
            self,
            Paragraph | Heading(_) | Code(_) | Table(_) | Head | Row | Cell
        )
    }

    pub(super) fn is_span(&self) -> bool {
        use Open::{CodeSpan, Emphasis, Image, Link, Literal, Strike, Strong};
        matches!(
            self,
            Strong | Emphasis | Strike | Link { .. } | Image(_) | CodeSpan | Literal(_)
        )
    }
}

/// What an element has gathered so far; only the fields of its kind are used.
struct Node {
    open: Open,
    blocks: Vec<Block>,
    inlines: Vec<Inline>,
    items: Vec<Vec<Block>>,
    cells: Vec<Vec<Inline>>,
    header: Vec<Vec<Inline>>,
    rows: Vec<Vec<Vec<Inline>>>,
}

impl Node {
    fn new(open: Open) -> Self {
        Self {
            open,
            blocks: Vec::new(),
            inlines: Vec::new(),
            items: Vec::new(),
            cells: Vec::new(),
            header: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Turns the loose text of a container into a paragraph.
    fn flush(&mut self) {
        let mut inlines = std::mem::take(&mut self.inlines);
        trim_breaks(&mut inlines);
        if !inlines.is_empty() {
            self.blocks.push(Block::Paragraph(inlines));
        }
    }
}

pub(super) struct Builder {
    root: Node,
    stack: Vec<Node>,
    /// One for each open element: whether it has a node or was left out as too deep.
    kept: Vec<bool>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            root: Node::new(Open::Root),
            stack: Vec::new(),
            kept: Vec::new(),
        }
    }

    fn top(&mut self) -> &mut Node {
        self.stack.last_mut().unwrap_or(&mut self.root)
    }

    /// Opens an element; each call wants one [`Builder::close`].
    pub(super) fn open(&mut self, open: Open) {
        let keep = open.is_leaf() || self.stack.len() < MAX_DEPTH;
        if !open.is_span() {
            self.flush();
        }
        if keep {
            self.stack.push(Node::new(open));
        }
        self.kept.push(keep);
    }

    /// Closes the innermost open element.
    pub(super) fn close(&mut self) {
        if self.kept.pop() == Some(true)
            && let Some(node) = self.stack.pop()
        {
            self.attach(node);
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let inlines = &mut self.top().inlines;
        if let Some(Inline::Text(last)) = inlines.last_mut() {
            last.push_str(text);
        } else {
            inlines.push(Inline::Text(text.to_owned()));
        }
    }

    pub(super) fn inline(&mut self, inline: Inline) {
        self.top().inlines.push(inline);
    }

    pub(super) fn block(&mut self, block: Block) {
        let top = self.top();
        top.flush();
        top.blocks.push(block);
    }

    /// Ends a paragraph that was never opened as such.
    pub(super) fn flush(&mut self) {
        self.top().flush();
    }

    /// Whether the innermost element with a node is one of text in a line.
    pub(super) fn in_span(&self) -> bool {
        self.kept.last() == Some(&false)
            || self.stack.last().is_some_and(|node| node.open.is_span())
    }

    pub(super) fn has_inlines(&self) -> bool {
        !self.stack.last().unwrap_or(&self.root).inlines.is_empty()
    }

    /// Closes what is open and hands over the blocks.
    pub(super) fn finish(mut self) -> Vec<Block> {
        while let Some(node) = self.stack.pop() {
            self.attach(node);
        }
        self.root.flush();
        self.root.blocks
    }
}

impl Builder {
    /// Turns a closed element into what it stands for, inside the one around it.
    fn attach(&mut self, mut node: Node) {
        if let Open::Code(language) = node.open {
            let text = code_text(&node.inlines);
            return self.block(Block::Code { language, text });
        }
        if !node.open.is_span() {
            trim_breaks(&mut node.inlines);
        }
        let content = std::mem::take(&mut node.inlines);
        match std::mem::replace(&mut node.open, Open::Root) {
            Open::Strong => self.inline(Inline::Strong(content)),
            Open::Emphasis => self.inline(Inline::Emphasis(content)),
            Open::Strike => self.inline(Inline::Strike(content)),
            Open::Link { url, title } => self.inline(Inline::Link {
                url,
                title,
                content,
            }),
            Open::CodeSpan => self.inline(Inline::Code(plain_text(&content))),
            Open::Image(url) => self.inline(Inline::Image {
                url,
                alt: plain_text(&content),
            }),
            Open::Literal(marker) => {
                self.text(marker);
                for inline in content {
                    match inline {
                        Inline::Text(text) => self.text(&text),
                        other => self.inline(other),
                    }
                }
                self.text(marker);
            }
            Open::Cell => self.top().cells.push(content),
            Open::Head => self.top().header = node.cells,
            Open::Row => self.top().rows.push(node.cells),
            Open::Table(alignments) => {
                let (header, rows) = (node.header, node.rows);
                self.block(Block::Table {
                    alignments,
                    header,
                    rows,
                });
            }
            Open::Heading(level) if !content.is_empty() => {
                self.block(Block::Heading { level, content });
            }
            open => {
                node.inlines = content;
                self.attach_container(open, node);
            }
        }
    }

    fn attach_container(&mut self, open: Open, mut node: Node) {
        node.flush();
        match open {
            Open::List(start) => {
                // Items that were left out as too deep leave their blocks behind.
                if !node.blocks.is_empty() {
                    node.items.push(node.blocks);
                }
                self.block(Block::List {
                    start,
                    items: node.items,
                });
            }
            Open::Item => self.top().items.push(node.blocks),
            Open::Quote if node.blocks.is_empty() => {}
            Open::Quote => self.block(Block::Quote(node.blocks)),
            _ => {
                for block in node.blocks {
                    self.block(block);
                }
            }
        }
    }
}

/// The text of a code block; the last line break belongs to the fence.
fn code_text(inlines: &[Inline]) -> String {
    let mut text = plain_text(inlines);
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Line breaks at either end of a block show nothing.
fn trim_breaks(inlines: &mut Vec<Inline>) {
    let is_break = |inline: &Inline| matches!(inline, Inline::SoftBreak | Inline::HardBreak);
    while inlines.last().is_some_and(is_break) {
        inlines.pop();
    }
    let leading = inlines.iter().take_while(|inline| is_break(inline)).count();
    inlines.drain(..leading);
}
