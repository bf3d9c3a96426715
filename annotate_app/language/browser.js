// Texts in the reader's language. They are marked where they stand, `tr("Saved.")`, and are their own names; what they
// become travels with the data of a component, as {language, texts}. In English there is nothing to travel.

let texts = {};
let forms = ["one", "other"];
let plural = new Intl.PluralRules("en");

/** Take the language of a component's data, and put what its markup says into it. */
function speak(root, data) {
  if (!data?.texts) return;
  texts = data.texts;
  plural = new Intl.PluralRules(data.language);
  forms = ["zero", "one", "two", "few", "many", "other"].filter((form) => plural.resolvedOptions().pluralCategories.includes(form));
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      const words = node.data.trim();
      if (Object.hasOwn(texts, words)) node.data = node.data.replace(words, () => texts[words]);
      continue;
    }
    for (const name of ["aria-label", "placeholder", "title"]) {
      const words = node.getAttribute(name);
      if (words !== null && Object.hasOwn(texts, words)) node.setAttribute(name, texts[words]);
    }
  }
}

/** A text, with values in the place of their names. */
function tr(text, values) {
  return filled(Object.hasOwn(texts, text) ? texts[text] : text, values);
}

/** A text that depends on a number, which it may name as {n}. */
function trn(one, several, count, values) {
  const found = Object.hasOwn(texts, one) ? texts[one][forms.indexOf(plural.select(count))] : count === 1 ? one : several;
  return filled(found, { n: count, ...values });
}

/** The text as it is: for values that are made before anybody reads them, and go through `tr` when they are shown. */
function marked(text) {
  return text;
}

function filled(text, values) {
  return values ? text.replace(/\{(\w+)\}/g, (_, name) => values[name]) : text;
}
