//! The head of a PLY: which elements there are, and what they have.

use super::super::text::{name, quoted};
use super::AGAIN;

/// How the body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Little,
    Big,
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Type {
    fn named(word: &[u8]) -> Option<Type> {
        Some(match word {
            b"char" | b"int8" => Type::I8,
            b"uchar" | b"uint8" => Type::U8,
            b"short" | b"int16" => Type::I16,
            b"ushort" | b"uint16" => Type::U16,
            b"int" | b"int32" => Type::I32,
            b"uint" | b"uint32" => Type::U32,
            b"float" | b"float32" => Type::F32,
            b"double" | b"float64" => Type::F64,
            _ => return None,
        })
    }

    pub fn bytes(self) -> usize {
        match self {
            Type::I8 | Type::U8 => 1,
            Type::I16 | Type::U16 => 2,
            Type::I32 | Type::U32 | Type::F32 => 4,
            Type::F64 => 8,
        }
    }
}

pub struct Property {
    pub name: String,
    pub of: Type,
    /// The type of its length, if it is a list.
    pub list: Option<Type>,
}

pub struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
    /// The line that states it.
    pub line: u64,
}

impl Element {
    /// Bytes that one of it takes at least.
    pub fn least(&self, form: Form) -> u64 {
        let each = |p: &Property| match form {
            // a digit, and what parts it from the next
            Form::Text => 2,
            _ => p.list.unwrap_or(p.of).bytes() as u64,
        };
        let all: u64 = self.properties.iter().map(each).sum();
        // the last digit of a text needs nothing behind it
        if form == Form::Text { all.saturating_sub(1).max(1) } else { all.max(1) }
    }
}

pub struct Head {
    pub form: Form,
    pub elements: Vec<Element>,
    /// Where the body begins.
    pub end: usize,
    /// Lines of the head.
    pub lines: u64,
    /// Those that no PLY has.
    pub unknown: Vec<u64>,
}

/// Elements, and properties of one, at most.
const MAX_ELEMENTS: usize = 1000;

/// A line, what is wrong with it, and what to do.
pub type Fault = (u64, String, &'static str);

impl Head {
    pub fn parse(bytes: &[u8]) -> Result<Head, Fault> {
        let (mut at, mut line, mut form) = (0, 0, None);
        let mut elements: Vec<Element> = Vec::new();
        let mut unknown = Vec::new();
        loop {
            line += 1;
            let rest = &bytes[at..];
            let length = rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
            let (text, end) = rest.split_at(length);
            at += length + if end.starts_with(b"\r\n") { 2 } else { usize::from(!end.is_empty()) };
            let words: Vec<&[u8]> = text.split(|b| matches!(b, b' ' | b'\t')).filter(|w| !w.is_empty()).collect();
            let wrong = |cause: String| Err((line, cause, AGAIN));
            match &words[..] {
                [b"ply"] if line == 1 => {}
                _ if line == 1 => return wrong("a PLY begins with a line \"ply\"".into()),
                [b"comment" | b"obj_info", ..] => {}
                [b"format", word, _] => {
                    form = Some(match *word {
                        b"ascii" => Form::Text,
                        b"binary_little_endian" => Form::Little,
                        b"binary_big_endian" => Form::Big,
                        other => {
                            return wrong(format!(
                                "the format is {}, and ascii, binary_little_endian and binary_big_endian are known",
                                quoted(other)
                            ));
                        }
                    });
                }
                [b"element", own, count] => {
                    let Some(count) = std::str::from_utf8(count).ok().and_then(|c| c.parse().ok()) else {
                        return wrong(format!("{} is no count", quoted(count)));
                    };
                    elements.push(Element { name: name(own).into_owned(), count, properties: Vec::new(), line });
                }
                [b"property", rest @ ..] => {
                    let Some(element) = elements.last_mut() else {
                        return wrong("a property stands before any element".into());
                    };
                    let (list, of, own) = match rest {
                        [b"list", length, of, own] => (Some(*length), *of, own),
                        [of, own] => (None, *of, own),
                        _ => return wrong(format!("this is no property: {}", quoted(text))),
                    };
                    let known = |word: &[u8]| {
                        Type::named(word)
                            .ok_or_else(|| (line, format!("{} is no type of a number", quoted(word)), AGAIN))
                    };
                    let property =
                        Property { name: name(own).into_owned(), of: known(of)?, list: list.map(known).transpose()? };
                    element.properties.push(property);
                }
                [b"end_header"] => break,
                [] if end.is_empty() => return wrong("the file ends before end_header".into()),
                _ if end.is_empty() => return wrong("the file ends before end_header".into()),
                [] => {}
                [b"ply" | b"format" | b"element" | b"end_header", ..] => {
                    return wrong(format!("this is no line of the head of a PLY: {}", quoted(text)));
                }
                // some programs write comments without the word
                _ if unknown.len() < MAX_ELEMENTS => unknown.push(line),
                _ => return wrong(format!("more than {MAX_ELEMENTS} lines of the head that no PLY has")),
            }
            if elements.len() > MAX_ELEMENTS || elements.last().is_some_and(|e| e.properties.len() > MAX_ELEMENTS) {
                return wrong(format!("more than {MAX_ELEMENTS} elements, or properties of one"));
            }
        }
        let Some(form) = form else {
            return Err((line, "there is no line \"format\" in the head".into(), AGAIN));
        };
        Ok(Head { form, elements, end: at, lines: line, unknown })
    }
}
