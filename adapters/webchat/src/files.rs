//! The files that browsers load: the widget and the page.
//!
//! Owns their text, which is part of the program, and how it is sent: without comments, compressed once, with a tag by
//! which a browser that has it asks only whether it changed. They are the same for everybody and say nothing of anybody,
//! so any page may load them. It never reads a file.

use std::{io::Write as _, sync::LazyLock};

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file as it is sent.
#[derive(Debug)]
pub(crate) struct File {
    kind: &'static str,
    plain: Bytes,
    packed: Bytes,
    tag: HeaderValue,
}

macro_rules! module {
    ($name:literal) => {
        (
            concat!("/widget/", $name, ".js"),
            SCRIPT,
            include_str!(concat!("widget/", $name, ".js")),
        )
    };
}

/// All of them by their path, the widget's first.
static FILES: LazyLock<[(&str, File); 18]> = LazyLock::new(|| {
    [
        ("/widget.js", SCRIPT, include_str!("widget/loader.js")),
        module!("card"),
        module!("composer"),
        module!("connection"),
        module!("drawer"),
        module!("element"),
        module!("icons"),
        module!("log"),
        module!("markup"),
        module!("sent"),
        module!("storage"),
        module!("style"),
        module!("tray"),
        module!("upload"),
        module!("voice"),
        module!("words"),
        (
            "/page.css",
            "text/css; charset=utf-8",
            include_str!("widget/page.css"),
        ),
        (
            "/icon.svg",
            "image/svg+xml",
            include_str!("widget/icon.svg"),
        ),
    ]
    .map(|(path, kind, text)| {
        let text = if kind == SCRIPT {
            lean(text)
        } else {
            text.to_owned()
        };
        (path, File::new(kind, &text))
    })
});

/// A script without indentation and without lines that are nothing but a comment: a fifth of what it would weigh.
fn lean(script: &str) -> String {
    let lines = script.lines().map(str::trim_start);
    let mut out = String::with_capacity(script.len());
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The files that every page may load, by path.
pub(crate) fn files() -> impl Iterator<Item = (&'static str, &'static File)> {
    FILES.iter().map(|(path, file)| (*path, file))
}

/// The page of a site.
pub(crate) fn page(site: &str) -> File {
    // An account's name may be anything.
    let site = site
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;");
    let text = include_str!("widget/page.html").replace("{site}", &site);
    File::new("text/html; charset=utf-8", &text)
}

impl File {
    fn new(kind: &'static str, text: &str) -> Self {
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes()));
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        let packed = packer
            .write_all(text.as_bytes())
            .and_then(|()| packer.finish());
        Self {
            kind,
            plain: Bytes::copy_from_slice(text.as_bytes()),
            // Writing into memory does not fail; without a packed form the plain one is sent.
            packed: packed.unwrap_or_default().into(),
            tag: HeaderValue::try_from(format!("\"{hash}\""))
                .unwrap_or_else(|_| HeaderValue::from_static("\"\"")),
        }
    }

    /// The size in bytes as it crosses the network.
    #[cfg(test)]
    pub(crate) fn packed_size(&self) -> usize {
        self.packed.len()
    }

    /// The answer to a request with these headers.
    pub(crate) fn answer(&self, request: &HeaderMap) -> Response {
        let mut response = if request.get(header::IF_NONE_MATCH) == Some(&self.tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else if accepts_gzip(request) && !self.packed.is_empty() {
            let packed = [(header::CONTENT_ENCODING, "gzip")];
            (packed, self.packed.clone()).into_response()
        } else {
            self.plain.clone().into_response()
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::ETAG, self.tag.clone());
        for (name, value) in [
            // Asked for again each time, so that nobody has parts of two versions.
            (header::CACHE_CONTROL, "no-cache"),
            (header::VARY, "accept-encoding"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

fn accepts_gzip(request: &HeaderMap) -> bool {
    let accepted = request.get(header::ACCEPT_ENCODING);
    let accepted = accepted.and_then(|it| it.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widget_is_small_as_it_crosses_the_network() {
        let widget = files().filter(|(path, _)| path.starts_with("/widget"));
        let size: usize = widget.map(|(_, file)| file.packed_size()).sum();
        assert!(size < 30 * 1024, "{size} bytes");
    }

    #[test]
    fn a_file_is_packed_for_who_takes_it_and_not_sent_twice() {
        let file = page("a\"><b");
        let ask = |name, value| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            file.answer(&headers)
        };
        for (accepted, packed) in [
            ("br, gzip;q=0.8", true),
            ("gzip", true),
            ("gzip;q=0", false),
            ("br", false),
        ] {
            let answer = ask(header::ACCEPT_ENCODING, accepted);
            let coding = answer.headers().get(header::CONTENT_ENCODING);
            assert_eq!(coding.is_some(), packed, "{accepted}");
        }
        let tag = file.answer(&HeaderMap::new()).headers()[header::ETAG].clone();
        let mut known = HeaderMap::new();
        known.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(file.answer(&known).status(), StatusCode::NOT_MODIFIED);
        let text = String::from_utf8(file.plain.to_vec()).unwrap();
        assert!(text.contains("site=\"a&quot;>&lt;b\""), "{text}");
    }
}
