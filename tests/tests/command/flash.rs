//! Files for the flash of a controller: read back by other programs and here, and refused where they would not fit.

use crate::shell::{HARDPAN, bridge, error, expect, holds};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const AT: u32 = 0x0804_0080;

/// Bytes of a file in Intel HEX, from this address on, with erased flash between.
fn of_hex(text: &str, from: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut upper = 0;
    let mut ended = false;
    for line in text.lines() {
        assert!(!ended, "nothing follows the last record");
        let digits = line.strip_prefix(':').unwrap();
        let all: Vec<u8> =
            (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap()).collect();
        assert_eq!(all.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)), 0, "{line}");
        let data = &all[4..all.len() - 1];
        assert_eq!(usize::from(all[0]), data.len());
        let address = u16::from_be_bytes([all[1], all[2]]);
        match all[3] {
            0 => {
                let at = ((upper << 16 | u32::from(address)) - from) as usize;
                assert!(at >= bytes.len(), "addresses ascend");
                bytes.resize(at, 0xFF);
                bytes.extend(data);
            }
            1 => ended = true,
            4 => upper = u32::from(u16::from_be_bytes([data[0], data[1]])),
            kind => panic!("record {kind}"),
        }
    }
    assert!(ended);
    bytes
}

/// Addresses, families and bytes of the blocks of a UF2 file.
fn of_uf2(file: &[u8]) -> Vec<(u32, Option<u32>, Vec<u8>)> {
    let count = file.len() / 512;
    assert_eq!(file.len(), 512 * count);
    let block = |(i, block): (usize, &[u8])| {
        let word = |at: usize| u32::from_le_bytes(block[4 * at..4 * at + 4].try_into().unwrap());
        assert_eq!([word(0), word(1), word(127)], [0x0A32_4655, 0x9E5D_5157, 0x0AB1_6F30]);
        assert_eq!([word(4), word(5), word(6)], [256, i as u32, count as u32]);
        let family = match word(2) {
            0 => None,
            0x2000 => Some(word(7)),
            flags => panic!("flags {flags:x}"),
        };
        (word(3), family, block[32..288].to_vec())
    };
    file.chunks(512).enumerate().map(block).collect()
}

/// CRC-32, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

/// Runs another program in a folder; none if it is not installed.
fn other(folder: &Path, line: &str) -> Option<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match Command::new(words[0]).args(&words[1..]).current_dir(folder).output() {
        Ok(Output { status, stderr, .. }) => {
            assert!(status.success(), "{line}: {}", String::from_utf8_lossy(&stderr));
            Some(())
        }
        Err(_) => {
            verification::skipped(&format!("{} is not installed: {line}", words[0]));
            None
        }
    }
}

#[test]
fn by_03_each_form_is_read_back() {
    let folder = bridge("by_03_each_form_is_read_back");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let image = read("bridge.hpan");
    for (name, address) in
        [("at.bin", "0x08040080"), ("at.hex", "0x08040080"), ("at.uf2", "134479872"), ("at.c", "0x08040080")]
    {
        let [out, err] = expect(0, &folder, &["flash", "bridge.hpan", "--address", address, "-o", name]);
        assert!(err.is_empty(), "{err}");
        let first = if name == "at.uf2" { "0x08040000" } else { "0x08040080" };
        holds(&out, &[name, "image of 23,552 bytes", first]);
    }
    // here
    assert!(read("at.bin") == image);
    assert!(of_hex(&String::from_utf8(read("at.hex")).unwrap(), AT) == image);
    let blocks = of_uf2(&read("at.uf2"));
    let flat: Vec<u8> = blocks.iter().flat_map(|(_, _, bytes)| bytes.clone()).collect();
    assert!(flat[..image.len()] == image[..] && flat[image.len()..].iter().all(|byte| *byte == 0xFF));
    for (i, (address, family, _)) in (0..).zip(&blocks) {
        assert_eq!((*address, *family), (0x0804_0000 + 256 * i, None));
    }
    // by other programs
    if other(&folder, "objcopy -I ihex -O binary at.hex objcopy.bin").is_some() {
        assert!(read("objcopy.bin") == image);
    }
    let offset = "-offset -0x08040080";
    if other(&folder, &format!("srec_cat at.hex -intel {offset} -o srec.bin -binary")).is_some() {
        assert!(read("srec.bin") == image);
    }
    // an array in C lies in its section, as it is, and is aligned
    let compiled = other(&folder, "cc -c at.c -o at.o");
    if compiled.and_then(|()| other(&folder, "objcopy -O binary -j .hardpan at.o c.bin")).is_some() {
        assert!(read("c.bin") == image);
        let [headers] = [Command::new("objdump").args(["-h", "at.o"]).current_dir(&folder).output()];
        let headers = String::from_utf8(headers.unwrap().stdout).unwrap();
        let section = headers.lines().find(|line| line.contains(".hardpan")).unwrap();
        assert!(section.ends_with("2**7"), "{section}");
    }
}

#[test]
fn by_03_families_of_uf2() {
    let folder = bridge("by_03_families_of_uf2");
    for (typed, family) in
        [("rp2040", 0xE48B_FF56u32), ("absolute", 0xE48B_FF57), ("data", 0xE48B_FF58), ("0xe48bff59", 0xE48B_FF59)]
    {
        let words = ["flash", "bridge.hpan", "--address", "0x10040000", "--family", typed, "-o", "a.uf2", "--force"];
        expect(0, &folder, &words);
        assert!(of_uf2(&fs::read(folder.join("a.uf2")).unwrap()).iter().all(|block| block.1 == Some(family)));
    }
    let words = ["flash", "bridge.hpan", "--address", "0x10040000", "--family", "data", "-o", "a.hex"];
    holds(&error(2, &folder, &words), &["only UF2 has a family"]);
}

/// The image at the start of its half, and at the end the record: the last bytes of every form.
#[test]
fn by_03_slots_have_a_record_at_their_end() {
    let folder = bridge("by_03_slots_have_a_record_at_their_end");
    let image = fs::read(folder.join("bridge.hpan")).unwrap();
    let half = 0x8000usize;
    for (slot, first) in [("a", 0x0804_0000u32), ("b", 0x0804_8000)] {
        for name in ["s.bin", "s.hex", "s.uf2"] {
            let sizes = ["--address", "0x08040000", "--flash-size", "64K", "--slot", slot, "--sequence", "259"];
            expect(0, &folder, &[&["flash", "bridge.hpan", "-o", name, "--force"][..], &sizes].concat());
            let file = fs::read(folder.join(name)).unwrap();
            let bytes = match name {
                "s.bin" => file,
                "s.hex" => of_hex(&String::from_utf8(file).unwrap(), first),
                _ => {
                    let blocks = of_uf2(&file);
                    let last = &blocks[blocks.len() - 1];
                    assert_eq!((blocks[0].0, last.0), (first, first + 0x8000 - 256));
                    let mut bytes = vec![0xFF; half];
                    for (address, _, block) in &blocks {
                        let at = (address - first) as usize;
                        bytes[at..at + 256].copy_from_slice(block);
                    }
                    bytes
                }
            };
            assert_eq!(bytes.len(), half, "{name}");
            assert!(bytes[..image.len()] == image[..], "{name}");
            let record = &bytes[half - 128..];
            assert!(bytes[image.len()..half - 128].iter().all(|byte| *byte == 0xFF), "{name}");
            let word = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
            assert_eq!(&record[..8], b"HPANSLOT");
            assert_eq!([word(8), word(12), word(16)], [259, image.len() as u32, crc(&image)]);
            assert!(record[20..124].iter().all(|byte| *byte == 0));
            assert_eq!(word(124), crc(&record[..124]));
        }
    }
    // the end of the hex file is the record: a tool that writes in its order writes it last
    let hex = fs::read_to_string(folder.join("s.hex")).unwrap();
    let mut records = hex.lines().filter(|line| &line[7..9] == "00");
    assert_eq!(records.next_back().map(|line| &line[3..7]), Some("FFF0"));
    // both in one partition, put together by another program
    for (slot, number) in [("a", "1"), ("b", "2")] {
        let name = format!("{slot}.hex");
        let sizes = ["--address", "0x08040000", "--flash-size", "64K", "--slot", slot, "--sequence", number];
        expect(0, &folder, &[&["flash", "bridge.hpan", "-o", &name][..], &sizes].concat());
    }
    let own = |name: &str| format!("{name}.hex -intel -offset -0x08040000");
    let line = format!("srec_cat ( {} {} ) -fill 0xFF 0 0x10000 -o both.bin -binary", own("a"), own("b"));
    if other(&folder, &line).is_some() {
        let both = fs::read(folder.join("both.bin")).unwrap();
        assert_eq!(both.len(), 2 * half);
        assert!(both[..image.len()] == image[..] && both[half..half + image.len()] == image[..]);
        assert_eq!([both[half - 120], both[2 * half - 120]], [1, 2]);
    }
}

/// Nothing is written where the image would not fit.
#[test]
fn by_03_what_does_not_fit_is_refused() {
    let folder = bridge("by_03_what_does_not_fit_is_refused");
    let len = fs::metadata(folder.join("bridge.hpan")).unwrap().len();
    let [enough, less] = [len, len - 1].map(|n| n.to_string());
    fs::write(folder.join("broken.hpan"), {
        let mut image = fs::read(folder.join("bridge.hpan")).unwrap();
        image[18_000] ^= 0x5A;
        image
    })
    .unwrap();
    for (code, typed, why) in [
        (2, "bridge.hpan --address 0x08040040 -o x.hex", "the address is no multiple of 128"),
        (2, "bridge.hpan --address 0x08040080 -o x.uf2", "the address is no multiple of 256"),
        (2, &format!("bridge.hpan --address 0 --flash-size {less} -o x.bin"), "and the flash has 23,551 from"),
        (2, "bridge.hpan --address 0xffffff80 -o x.bin", "and the flash has 128 from the address on"),
        (2, "bridge.hpan --address 0 --flash-size 40K --slot a --sequence 1 -o x.hex", "and a slot has 20,480"),
        (
            2,
            "bridge.hpan --address 0 --flash-size 65664 --slot a --sequence 1 -o x.hex",
            "half of the flash is no multiple",
        ),
        (2, "bridge.hpan --address 0 --flash-size 64K --slot a --sequence 1 -o x.c", "has no slot; leave --slot out"),
        (2, "bridge.hpan --address 0 -o x.elf", "the ending says what is written"),
        (2, "bridge.obj --address 0 -o x.hex", "this is not a terrain image"),
        (2, "broken.hpan --address 0 -o x.hex", "broken.hpan: "),
        (2, "bridge.hpan --address 0 -o x.c --run", "an array in C is compiled, not sent"),
    ] {
        let words: Vec<&str> = ["flash"].into_iter().chain(typed.split(' ')).collect();
        holds(&error(code, &folder, &words), &[why]);
    }
    for typed in [
        "--address 0x -o x.hex",
        "--address -128 -o x.hex",
        "--address 0x100000000 -o x.hex",
        "--address 4096M -o x.hex",
        "-o x.hex",
        "--address 0 --slot a --sequence 1 -o x.hex",
        "--address 0 --flash-size 64K --slot a -o x.hex",
        "--address 0 --flash-size 64K --slot c --sequence 1 -o x.hex",
        "--address 0 --sequence 1 -o x.hex",
    ] {
        let words: Vec<&str> = ["flash", "bridge.hpan"].into_iter().chain(typed.split(' ')).collect();
        expect(2, &folder, &words);
    }
    let written =
        fs::read_dir(&folder).unwrap().filter(|f| f.as_ref().unwrap().file_name().to_string_lossy().starts_with('x'));
    assert_eq!(written.count(), 0);
    // what just fits is written, once
    let words = ["flash", "bridge.hpan", "--address", "0", "--flash-size", &enough, "-o", "x.bin"];
    expect(0, &folder, &words);
    holds(&error(2, &folder, &words), &["there is a file here already; to replace it add --force"]);
    expect(0, &folder, &[&words[..], &["--force"]].concat());
}

#[cfg(unix)]
#[test]
fn by_03_run_calls_probe_rs_or_says_what_to_type() {
    use std::os::unix::fs::PermissionsExt;
    let folder = bridge("by_03_run_calls_probe_rs_or_says_what_to_type");
    let run = |path: &Path, more: &[&str]| {
        let words = ["flash", "bridge.hpan", "--address", "0x08040000", "--force", "--run", "--chip", "STM32F407VGTx"];
        let done =
            Command::new(&*HARDPAN).args(words).args(more).current_dir(&folder).env("PATH", path).output().unwrap();
        let [out, err] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (done.status.code(), out, err)
    };
    // not there: the file is, and the line to type
    let none = folder.join("none");
    fs::create_dir(&none).unwrap();
    let (code, out, err) = run(&none, &["-o", "at.bin"]);
    assert_eq!(code, Some(4), "{err}");
    holds(&out, &["at.bin: image of 23,552 bytes"]);
    let line = "probe-rs download --verify --chip STM32F407VGTx --binary-format bin --base-address 0x08040000 at.bin";
    holds(&err, &["nothing was sent", line]);
    assert!(folder.join("at.bin").is_file());
    // one that stands in for it: what it was called with, and how it ended
    let tools = folder.join("tools");
    fs::create_dir(&tools).unwrap();
    let stand_in = tools.join("probe-rs");
    fs::write(&stand_in, "#!/bin/sh\necho \"$@\" >called\n[ ! -e fail ]\n").unwrap();
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    for (name, called) in [
        ("at.hex", "download --verify --chip STM32F407VGTx --binary-format hex at.hex\n"),
        ("at.uf2", "download --verify --chip STM32F407VGTx --binary-format uf2 at.uf2\n"),
        ("at.bin", "download --verify --chip STM32F407VGTx --binary-format bin --base-address 0x08040000 at.bin\n"),
    ] {
        let (code, out, err) = run(&tools, &["-o", name]);
        assert_eq!((code, &*err), (Some(0), ""));
        assert_eq!(fs::read_to_string(folder.join("called")).unwrap(), called);
        holds(&out, &["sent: probe-rs download"]);
    }
    // the upper slot is sent to its own address
    let slot = ["-o", "b.bin", "--flash-size", "64K", "--slot", "b", "--sequence", "7"];
    assert_eq!(run(&tools, &slot).0, Some(0));
    holds(&fs::read_to_string(folder.join("called")).unwrap(), &["--base-address 0x08048000 b.bin"]);
    fs::write(folder.join("fail"), "").unwrap();
    let (code, _, err) = run(&tools, &["-o", "at.hex"]);
    assert_eq!(code, Some(4));
    holds(&err, &["probe-rs ended with", "to try again: probe-rs download"]);
}
