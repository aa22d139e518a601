/** A word ends here: `\b` knows only the letters of English. */
const END = '(?![a-zà-ÿ])';
const NEVER_DE = String.raw`(?:nie(?:mals)?|nicht|kein(?:e[nmrs]?)?|immer|nur|stets|ausschließlich)`;
const ORDER_DE = String.raw`(?:(?:änder|lösch|benutz|verwend|nutz|schreib|füg|fass|lass|mach|halt|rühr|setz)e?|(?:antwort|committ|push|start|bau|stell|test|prüf|entfern|installier|frag|leg)e|nimm|gib)`;

/** What marks a rule in languages other than English, at the beginning of a clause: mostly "never" and "always". */
const PATTERNS = [
  // German
  String.raw`(?:nie(?:mals)?|immer|kein(?:e[nmrs]?)?|auf keinen fall|unter keinen umständen|ab (?:jetzt|sofort)|von (?:jetzt|nun) an|in zukunft)\s(?!(?:noch|mal|wenn|mehr|ahnung|sorge|zeit|lust|idee|problem|frage)${END}|.*\b(?:ist|sind|war|hat|haben|gibt|wird|gefunden|geht)\b)`,
  String.raw`${ORDER_DE}\s(?:.{0,120}\s)?${NEVER_DE}${END}`,
  String.raw`.{0,80}\bbitte ${NEVER_DE}${END}`,
  String.raw`.{0,80}\b(?:darfst|sollst|musst|darf|dürfen|sollen|muss|müssen)\s(?:.{0,80}\s)?(?:${NEVER_DE}|bleiben)${END}`,
  String.raw`alle\s.{1,80}\b(?:sollen|sollten|müssen)${END}`,
  String.raw`ohne (?:meine?|mich|rückfrage|zu fragen)${END}`,
  // French
  String.raw`ne (?!marche|fonctionne|compile)\S+ (?:jamais|pas|plus)${END}`,
  String.raw`(?:il faut|tu dois|vous devez|à partir de maintenant|désormais|évitez?|jamais|toujours \S+(?:er|ir|re|ez))${END}`,
  // Spanish and Portuguese
  String.raw`(?:nunca|jamás|siempre|sempre)\s`,
  String.raw`(?:no|não) (?:toques?|uses?(?! (?:for|of))|borres?|cambies?|modifiques?|hagas?|elimines?|agregues?|mexas?|apagues?|alteres?|mudes?|adiciones?)${END}`,
  String.raw`(?:debes|tienes que|a partir de (?:ahora|agora)|de ahora en adelante)${END}`,
  // Italian
  String.raw`(?:non (?:\S+[aei]re|toccar\S*)|mai \S+re|d'ora in poi|da ora in poi)${END}`,
  // Dutch, Polish
  String.raw`(?:nooit|altijd|vanaf nu|nigdy|zawsze|nie (?:zmieniaj|ruszaj|dotykaj|usuwaj|używaj|dodawaj))${END}`,
  // Russian
  'никогда не |всегда |нельзя |не (?:трогай|меняй|удаляй|используй|добавляй|изменяй)',
  // Chinese, Japanese, Korean: anywhere in a clause
  '.{0,40}(?:不要|不得|不准|请勿|切勿|绝不|絕不|禁止|必须|必須|务必|務必|只能|从现在|今后|别(?:动|改|碰|用|删)|ないで(?:ください|くれ|[。!！]|$)|絶対に|必ず|決して|今後は|てはいけ|しないこと|절대|항상|반드시|지 ?마)',
];

/** What a clause that lays down a rule in another language than English begins with. */
export const RULES_IN_OTHER_LANGUAGES: RegExp = new RegExp(`^(?:${PATTERNS.join('|')})`, 'i');
