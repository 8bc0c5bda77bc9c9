//! The numbers of a PLY.

use super::super::{Place, bytes, text::quoted};
use super::head::{Element, Form, Head, Property, Type};

/// Why reading stops.
pub struct Stop(pub String);

pub struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
    form: Form,
    /// The line, from 1, of a text.
    line: u64,
}

impl<'a> Body<'a> {
    pub fn new(bytes: &'a [u8], head: &Head) -> Self {
        Body { bytes, at: head.end.min(bytes.len()), form: head.form, line: head.lines + 1 }
    }

    /// Bytes that are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Where reading is.
    pub fn place(&self) -> Place {
        if self.form == Form::Text { Place::Line(self.line) } else { Place::Byte(self.at as u64) }
    }

    fn word(&mut self) -> Result<f64, Stop> {
        while let Some(b) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += u64::from(*b == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if length == 0 {
            return Err(ended());
        }
        let word = &rest[..length];
        let number = fast_float2::parse(word).map_err(|_| Stop(format!("{} is not a number", quoted(word))))?;
        self.at += length;
        Ok(number)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let mut taken = bytes::at::<N>(self.bytes, self.at).ok_or_else(ended)?;
        self.at += N;
        if self.form == Form::Big {
            taken.reverse();
        }
        Ok(taken)
    }

    fn number(&mut self, of: Type) -> Result<f64, Stop> {
        if self.form == Form::Text {
            return self.word();
        }
        Ok(match of {
            Type::I8 => f64::from(i8::from_le_bytes(self.take()?)),
            Type::U8 => f64::from(u8::from_le_bytes(self.take()?)),
            Type::I16 => f64::from(i16::from_le_bytes(self.take()?)),
            Type::U16 => f64::from(u16::from_le_bytes(self.take()?)),
            Type::I32 => f64::from(i32::from_le_bytes(self.take()?)),
            Type::U32 => f64::from(u32::from_le_bytes(self.take()?)),
            Type::F32 => f64::from(f32::from_le_bytes(self.take()?)),
            Type::F64 => f64::from_le_bytes(self.take()?),
        })
    }

    /// The length of a list, which is there as a whole.
    fn length(&mut self, of: Type, each: Type) -> Result<usize, Stop> {
        let length = self.number(of)?;
        let least = if self.form == Form::Text { 1 } else { each.bytes() };
        let fits = length >= 0.0 && length.fract() == 0.0 && length * least as f64 <= self.left() as f64;
        if fits { Ok(length as usize) } else { Err(Stop(format!("a list of {length} numbers does not fit the file"))) }
    }

    /// The numbers of a list.
    pub fn list(&mut self, property: &Property, into: &mut Vec<f64>) -> Result<(), Stop> {
        into.clear();
        let Some(of) = property.list else { return Ok(()) };
        for _ in 0..self.length(of, property.of)? {
            into.push(self.number(property.of)?);
        }
        Ok(())
    }

    /// Passes a property.
    pub fn pass(&mut self, property: &Property) -> Result<(), Stop> {
        let count = match property.list {
            None => 1,
            Some(of) => self.length(of, property.of)?,
        };
        if self.form == Form::Text {
            return (0..count).try_for_each(|_| self.word().map(drop));
        }
        let bytes = count * property.of.bytes();
        if bytes > self.left() {
            return Err(ended());
        }
        self.at += bytes;
        Ok(())
    }

    /// Passes all of an element.
    pub fn skip(&mut self, element: &Element) -> Result<(), Stop> {
        if element.properties.is_empty() {
            return Ok(());
        }
        (0..element.count).try_for_each(|_| element.properties.iter().try_for_each(|p| self.pass(p)))
    }

    /// One of an element: the numbers of its properties, but for those of lists.
    pub fn row(&mut self, element: &Element, row: &mut [f64]) -> Result<(), Stop> {
        for (property, v) in element.properties.iter().zip(row) {
            match property.list {
                None => *v = self.number(property.of)?,
                Some(_) => self.pass(property)?,
            }
        }
        Ok(())
    }
}

fn ended() -> Stop {
    Stop("the file ends here, before all that it states".into())
}
