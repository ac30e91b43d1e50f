//! Letters that look like Latin ones.
//!
//! Owns the table: the letters of other scripts that stand in for Latin ones in words that are meant to be read
//! and not found. It is short on purpose; ordinary words of those scripts are never touched because of it.

/// The ASCII letter that a letter stands for wherever it is: those of no ordinary script.
pub(super) fn always(letter: char) -> Option<char> {
    // Most characters are beyond the table.
    if matches!(letter, '\u{2213}'..='\u{a72f}') {
        return None;
    }
    let table = [
        ('ᴀ', 'a'),
        ('ʙ', 'b'),
        ('ᴄ', 'c'),
        ('ᴅ', 'd'),
        ('ᴇ', 'e'),
        ('ꜰ', 'f'),
        ('ɢ', 'g'),
        ('ʜ', 'h'),
        ('ɪ', 'i'),
        ('ᴊ', 'j'),
        ('ᴋ', 'k'),
        ('ʟ', 'l'),
        ('ᴍ', 'm'),
        ('ɴ', 'n'),
        ('ᴏ', 'o'),
        ('ᴘ', 'p'),
        ('ʀ', 'r'),
        ('ꜱ', 's'),
        ('ᴛ', 't'),
        ('ᴜ', 'u'),
        ('ᴠ', 'v'),
        ('ᴡ', 'w'),
        ('ʏ', 'y'),
        ('ᴢ', 'z'),
        ('ɑ', 'a'),
        ('ɡ', 'g'),
        ('ı', 'i'),
        ('ȷ', 'j'),
        ('ł', 'l'),
        ('Ł', 'l'),
        ('ø', 'o'),
        ('Ø', 'o'),
        ('đ', 'd'),
        ('Đ', 'd'),
        ('ħ', 'h'),
        ('ŧ', 't'),
        ('ƒ', 'f'),
        ('ß', 's'),
        ('’', '\''),
        ('‘', '\''),
        ('‛', '\''),
        ('ʼ', '\''),
        ('“', '"'),
        ('”', '"'),
        ('„', '"'),
        ('«', '"'),
        ('»', '"'),
        ('–', '-'),
        ('—', '-'),
        ('‐', '-'),
        ('‑', '-'),
        ('−', '-'),
    ];
    if let Some((_, ascii)) = table.iter().find(|(known, _)| *known == letter) {
        return Some(*ascii);
    }
    let in_block =
        |first: u32| char::from_u32(u32::from(letter).wrapping_sub(first) + u32::from('a'));
    match letter {
        // Regional indicators and the letters in boxes.
        '\u{1f1e6}'..='\u{1f1ff}' => in_block(0x1f1e6),
        '\u{1f130}'..='\u{1f149}' => in_block(0x1f130),
        '\u{1f150}'..='\u{1f169}' => in_block(0x1f150),
        '\u{1f170}'..='\u{1f189}' => in_block(0x1f170),
        _ => None,
    }
}

/// The Latin letter that a letter of another script looks like, in a word that also has Latin ones.
pub(super) fn of(letter: char) -> Option<char> {
    Some(match letter {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' | 'ε' => 'e',
        'г' => 'r',
        'һ' | 'н' | 'հ' => 'h',
        'і' | 'ї' | 'ι' | 'ɩ' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'п' | 'η' | 'ո' => 'n',
        'о' | 'ο' | 'օ' | 'σ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ => return None,
    })
}

/// A letter that cannot be told from a Latin one: words of nothing else are taken for Latin.
pub(super) fn strong(letter: char) -> bool {
    matches!(
        letter,
        'а' | 'с' | 'ԁ' | 'е' | 'һ' | 'і' | 'ј' | 'о' | 'р' | 'ԛ' | 'ѕ' | 'ԝ' | 'х' | 'у' | 'ο'
    )
}

/// The ASCII character that a tag character hides.
pub(super) fn tagged(letter: char) -> Option<char> {
    let code = u32::from(letter).checked_sub(0xe_0000)?;
    u8::try_from(code)
        .ok()
        .filter(|code| (0x20..0x7f).contains(code))
        .map(char::from)
}
