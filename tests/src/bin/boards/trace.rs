//! Whose instructions a query takes: every instruction of the emulator's log, told apart by the firmware's line table.

use addr2line::Loader;
use std::collections::{BTreeMap, HashMap};
use std::{fs::File, io::BufRead, io::BufReader, path::Path};

/// Calls of this function, by the name that symbols have, are looked at.
const CALL: &str = "3ask7closest";
/// and of that what this function of the kernel does: from a block's number to height and normal. It is inlined.
const PART: &str = "patch_cell";

/// Prints the least, mean and most instructions of `PART` in a call as the boards do, as `decode`.
///
/// `log` has a line an instruction, `Trace 0: HOST [FLAGS/ADDRESS/..] SYMBOL`.
pub fn run(elf: &Path, log: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let loader = Loader::new(elf).map_err(|e| format!("{}: {e}", elf.display()))?;
    let mut known: HashMap<u64, bool> = HashMap::new();
    let mut is_part = |address: u64| -> Result<bool, Box<dyn std::error::Error>> {
        if let Some(&part) = known.get(&address) {
            return Ok(part);
        }
        let (mut frames, mut part) = (loader.find_frames(address)?, false);
        while let Some(frame) = frames.next()? {
            part |= frame.function.is_some_and(|f| f.raw_name().is_ok_and(|n| n.contains(PART)));
        }
        known.insert(address, part);
        Ok(part)
    };
    // (of the part, all) of each call; a call ends in the function that it started from
    let mut calls: Vec<(u64, u64)> = Vec::new();
    let (mut last, mut caller) = (String::new(), None);
    for line in BufReader::new(File::open(log)?).lines() {
        let line = line?;
        let Some((address, symbol)) = instruction(&line) else { continue };
        if caller.is_none() && symbol.contains(CALL) {
            caller = Some(last);
            calls.push((0, 0));
        } else if caller.as_deref() == Some(symbol) {
            caller = None;
        }
        if let (Some(_), Some((part, all))) = (&caller, calls.last_mut()) {
            *part += u64::from(is_part(address)?);
            *all += 1;
        }
        last = symbol.into();
    }
    let parts = || calls.iter().map(|c| c.0).filter(|&n| n > 0);
    let (Some(least), Some(most)) = (parts().min(), parts().max()) else {
        return Err(format!("no instruction of {PART} in {} calls", calls.len()).into());
    };
    let tenths = 10 * parts().sum::<u64>() / parts().count() as u64;
    println!("count decode {least} {}.{} {most}", tenths / 10, tenths % 10);
    println!("worst decode 0 0 0 0 0 1 1\nstack decode 0");
    let mut totals = BTreeMap::new();
    calls.iter().for_each(|c| *totals.entry(c.1).or_insert(0) += 1);
    eprintln!("traced {} calls of closest; instructions, and how many calls took them: {totals:?}", calls.len());
    Ok(())
}

/// Address and symbol of an executed instruction.
fn instruction(line: &str) -> Option<(u64, &str)> {
    let (_, rest) = line.strip_prefix("Trace ")?.split_once('[')?;
    let (numbers, symbol) = rest.split_once(']')?;
    let address = u64::from_str_radix(numbers.split('/').nth(1)?, 16).ok()?;
    Some((address, symbol.trim()))
}
