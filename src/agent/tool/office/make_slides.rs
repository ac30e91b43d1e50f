//! A presentation made of titles with bullets.
//!
//! Owns the one look: a title above, points below. Pure.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    parts::{self, HEAD, RELATION},
    xml::escaped,
};

/// Most slides, and most points of one.
const MAX_SLIDES: usize = 200;
const MAX_POINTS: usize = 60;
/// Deepest point below another.
const MAX_LEVEL: usize = 4;
const NAMES: &str = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
     xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\"";
/// A group of shapes that holds nothing but them.
const GROUP: &str = "<p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off \
     x=\"0\" y=\"0\"/><a:ext cx=\"0\" cy=\"0\"/><a:chOff x=\"0\" y=\"0\"/><a:chExt cx=\"0\" cy=\"0\"/></a:xfrm></p:grpSpPr>";

/// A slide: its title, and its points with how deep each is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Slide {
    title: String,
    points: Vec<(usize, String)>,
}

/// The slides of the arguments `slides` or `markdown`: there each heading begins one.
///
/// # Errors
/// What the model is told.
pub(super) fn slides(arguments: &Map<String, Value>) -> Result<Vec<Slide>, String> {
    let given = arguments.get("slides").and_then(Value::as_array);
    let markdown = arguments.get("markdown").and_then(Value::as_str);
    let slides = match (given, markdown) {
        (Some(given), _) => given.iter().map(slide).collect(),
        (None, Some(markdown)) => outline(markdown),
        (None, None) => return Err("Give slides or markdown for a presentation.".to_owned()),
    };
    let fits = |slide: &Slide| slide.points.len() <= MAX_POINTS;
    if (1..=MAX_SLIDES).contains(&slides.len()) && slides.iter().all(fits) {
        Ok(slides)
    } else {
        Err(format!(
            "A presentation has 1 to {MAX_SLIDES} slides of at most {MAX_POINTS} points."
        ))
    }
}

fn slide(given: &Value) -> Slide {
    let points = given["bullets"].as_array().into_iter().flatten();
    let point = |point: &Value| {
        let text = point.as_str().unwrap_or_default();
        let indent = text.len() - text.trim_start_matches(' ').len();
        (level(indent), without_mark(text).to_owned())
    };
    Slide {
        title: given["title"].as_str().unwrap_or_default().to_owned(),
        points: points.map(point).collect(),
    }
}

fn outline(markdown: &str) -> Vec<Slide> {
    let mut slides: Vec<Slide> = Vec::new();
    for line in markdown.lines().filter(|line| !line.trim().is_empty()) {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            slides.push(Slide {
                title: plain(heading.trim()),
                points: Vec::new(),
            });
            continue;
        }
        if slides.is_empty() {
            slides.push(Slide::default());
        }
        if let Some(slide) = slides.last_mut() {
            let indent = line.len() - line.trim_start_matches(' ').len();
            slide
                .points
                .push((level(indent), plain(without_mark(line))));
        }
    }
    slides
}

fn level(indent: usize) -> usize {
    (indent / 2).min(MAX_LEVEL)
}

fn without_mark(line: &str) -> &str {
    let line = line.trim();
    ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line)
}

/// Without the marks of bold and code, which a slide would show.
fn plain(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}

/// The parts of a presentation.
pub(super) fn parts(slides: &[Slide]) -> Vec<(String, String)> {
    let of = |name: &str, kind: &str| (format!("ppt/{name}.xml"), kind.to_owned());
    let mut kinds = vec![
        of("presentation", "presentationml.presentation.main"),
        of("slideMasters/slideMaster1", "presentationml.slideMaster"),
        of("slideLayouts/slideLayout1", "presentationml.slideLayout"),
        of("theme/theme1", "theme"),
    ];
    let mut relations = vec![
        (
            "master".to_owned(),
            "slideMaster",
            "slideMasters/slideMaster1.xml".to_owned(),
            false,
        ),
        (
            "theme".to_owned(),
            "theme",
            "theme/theme1.xml".to_owned(),
            false,
        ),
    ];
    let (mut list, mut own) = (String::new(), Vec::new());
    let layout = [(
        "rId1".to_owned(),
        "slideLayout",
        "../slideLayouts/slideLayout1.xml".to_owned(),
        false,
    )];
    for (at, slide) in slides.iter().enumerate() {
        let number = at + 1;
        let _ = write!(
            list,
            "<p:sldId id=\"{}\" r:id=\"slide{number}\"/>",
            256 + at
        );
        relations.push((
            format!("slide{number}"),
            "slide",
            format!("slides/slide{number}.xml"),
            false,
        ));
        kinds.push(of(&format!("slides/slide{number}"), "presentationml.slide"));
        own.push((format!("ppt/slides/slide{number}.xml"), shown(slide)));
        let place = format!("ppt/slides/_rels/slide{number}.xml.rels");
        own.push((place, parts::relations(&layout)));
    }
    let presentation = format!(
        "{HEAD}<p:presentation {NAMES} xmlns:r=\"{RELATION}\"><p:sldMasterIdLst><p:sldMasterId id=\"2147483648\" \
         r:id=\"master\"/></p:sldMasterIdLst><p:sldIdLst>{list}</p:sldIdLst><p:sldSz cx=\"12192000\" cy=\"6858000\"/>\
         <p:notesSz cx=\"6858000\" cy=\"9144000\"/></p:presentation>"
    );
    let mut all = vec![
        parts::kinds(&kinds),
        parts::root("ppt/presentation.xml"),
        ("ppt/presentation.xml".to_owned(), presentation),
        (
            "ppt/_rels/presentation.xml.rels".to_owned(),
            parts::relations(&relations),
        ),
    ];
    all.extend(look());
    all.extend(own);
    all
}

/// The parts that are the same in every presentation: its one look.
fn look() -> Vec<(String, String)> {
    let master = [
        (
            "rId1".to_owned(),
            "slideLayout",
            "../slideLayouts/slideLayout1.xml".to_owned(),
            false,
        ),
        (
            "rId2".to_owned(),
            "theme",
            "../theme/theme1.xml".to_owned(),
            false,
        ),
    ];
    let up = [(
        "rId1".to_owned(),
        "slideMaster",
        "../slideMasters/slideMaster1.xml".to_owned(),
        false,
    )];
    vec![
        (
            "ppt/slideMasters/slideMaster1.xml".to_owned(),
            master_part(),
        ),
        (
            "ppt/slideMasters/_rels/slideMaster1.xml.rels".to_owned(),
            parts::relations(&master),
        ),
        (
            "ppt/slideLayouts/slideLayout1.xml".to_owned(),
            layout_part(),
        ),
        (
            "ppt/slideLayouts/_rels/slideLayout1.xml.rels".to_owned(),
            parts::relations(&up),
        ),
        ("ppt/theme/theme1.xml".to_owned(), theme()),
    ]
}

fn shown(slide: &Slide) -> String {
    let title = format!("<a:p><a:r><a:t>{}</a:t></a:r></a:p>", escaped(&slide.title));
    let mut points = String::new();
    for (level, text) in &slide.points {
        let _ = write!(
            points,
            "<a:p><a:pPr lvl=\"{level}\"/><a:r><a:t>{}</a:t></a:r></a:p>",
            escaped(text)
        );
    }
    if points.is_empty() {
        points.push_str("<a:p/>");
    }
    format!(
        "{HEAD}<p:sld {NAMES} xmlns:r=\"{RELATION}\"><p:cSld><p:spTree>{GROUP}{}{}</p:spTree></p:cSld><p:clrMapOvr>\
         <a:masterClrMapping/></p:clrMapOvr></p:sld>",
        shape(2, "Title", "type=\"title\"", "", &title),
        shape(3, "Content", "idx=\"1\"", "", &points)
    )
}

/// A place for text; `at` is where, unless the layout says so.
fn shape(id: usize, name: &str, place: &str, at: &str, text: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{name}\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/></p:cNvSpPr><p:nvPr><p:ph \
         {place}/></p:nvPr></p:nvSpPr><p:spPr>{at}</p:spPr><p:txBody><a:bodyPr><a:normAutofit/></a:bodyPr><a:lstStyle/>{text}\
         </p:txBody></p:sp>"
    )
}

fn at(x: u32, y: u32, width: u32, height: u32) -> String {
    format!(
        "<a:xfrm><a:off x=\"{x}\" y=\"{y}\"/><a:ext cx=\"{width}\" cy=\"{height}\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/>\
         </a:prstGeom>"
    )
}

/// Title and points where they stand.
fn places() -> String {
    let empty = "<a:p/>";
    let title = at(838_200, 365_125, 10_515_600, 1_325_563);
    let points = at(838_200, 1_825_625, 10_515_600, 4_351_338);
    format!(
        "{GROUP}{}{}",
        shape(2, "Title", "type=\"title\"", &title, empty),
        shape(3, "Content", "type=\"body\" idx=\"1\"", &points, empty)
    )
}

fn layout_part() -> String {
    format!(
        "{HEAD}<p:sldLayout {NAMES} xmlns:r=\"{RELATION}\" type=\"obj\"><p:cSld name=\"Title and Content\"><p:spTree>{}\
         </p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>",
        places().replace("type=\"body\" ", "")
    )
}

fn master_part() -> String {
    let mut levels = String::new();
    for level in 1..=5_u32 {
        let (left, size) = (228_600 + (level - 1) * 457_200, 3_000 - level * 200);
        let _ = write!(
            levels,
            "<a:lvl{level}pPr marL=\"{left}\" indent=\"-228600\"><a:spcBef><a:spcPts val=\"500\"/></a:spcBef><a:buFont \
             typeface=\"Arial\"/><a:buChar char=\"•\"/><a:defRPr sz=\"{size}\"><a:solidFill><a:schemeClr val=\"tx1\"/></a:solidFill>\
             </a:defRPr></a:lvl{level}pPr>"
        );
    }
    format!(
        "{HEAD}<p:sldMaster {NAMES} xmlns:r=\"{RELATION}\"><p:cSld><p:bg><p:bgRef idx=\"1001\"><a:schemeClr val=\"bg1\"/></p:bgRef>\
         </p:bg><p:spTree>{}</p:spTree></p:cSld><p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" accent1=\"accent1\" \
         accent2=\"accent2\" accent3=\"accent3\" accent4=\"accent4\" accent5=\"accent5\" accent6=\"accent6\" hlink=\"hlink\" \
         folHlink=\"folHlink\"/><p:sldLayoutIdLst><p:sldLayoutId id=\"2147483649\" r:id=\"rId1\"/></p:sldLayoutIdLst><p:txStyles>\
         <p:titleStyle><a:lvl1pPr><a:defRPr sz=\"4000\"><a:solidFill><a:schemeClr val=\"tx1\"/></a:solidFill></a:defRPr></a:lvl1pPr>\
         </p:titleStyle><p:bodyStyle>{levels}</p:bodyStyle><p:otherStyle/></p:txStyles></p:sldMaster>",
        places()
    )
}

/// Colours, fonts and the plainest of everything else that a theme has to say.
fn theme() -> String {
    let colours = [
        ("dk1", "000000"),
        ("lt1", "FFFFFF"),
        ("dk2", "333333"),
        ("lt2", "EEEEEE"),
        ("accent1", "2F6690"),
        ("accent2", "D97D54"),
        ("accent3", "81A35C"),
        ("accent4", "C9A227"),
        ("accent5", "6D597A"),
        ("accent6", "3A7D7C"),
        ("hlink", "0563C1"),
        ("folHlink", "6D597A"),
    ];
    let colours: String = colours
        .iter()
        .map(|(name, value)| format!("<a:{name}><a:srgbClr val=\"{value}\"/></a:{name}>"))
        .collect();
    let font =
        "<a:latin typeface=\"Calibri\"/><a:ea typeface=\"Microsoft YaHei\"/><a:cs typeface=\"\"/>";
    let fill = "<a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill>";
    let line = format!("<a:ln w=\"9525\">{fill}</a:ln>");
    let effect = "<a:effectStyle><a:effectLst/></a:effectStyle>";
    format!(
        "{HEAD}<a:theme xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" name=\"Plain\"><a:themeElements>\
         <a:clrScheme name=\"Plain\">{colours}</a:clrScheme><a:fontScheme name=\"Plain\"><a:majorFont>{font}</a:majorFont>\
         <a:minorFont>{font}</a:minorFont></a:fontScheme><a:fmtScheme name=\"Plain\"><a:fillStyleLst>{}</a:fillStyleLst>\
         <a:lnStyleLst>{}</a:lnStyleLst><a:effectStyleLst>{}</a:effectStyleLst><a:bgFillStyleLst>{}</a:bgFillStyleLst>\
         </a:fmtScheme></a:themeElements></a:theme>",
        fill.repeat(3),
        line.repeat(3),
        effect.repeat(3),
        fill.repeat(3)
    )
}
