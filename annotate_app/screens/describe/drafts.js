// What a person has begun in each video: marks and words, kept in this browser until they are saved or left.

const DRAFTS = "reelrank.describing";

/** draft = {start_s, end_s, sentence, editing: the description it corrects, or null} */
function newDraft() {
  return { start_s: null, end_s: null, sentence: "", editing: null };
}

function isBlank({ start_s, end_s, sentence }) {
  return start_s === null && end_s === null && sentence.trim() === "";
}

class Drafts {
  constructor(person) {
    this.name = `${DRAFTS}.${person}`;
    const found = parseOrNull(remembered(this.name) ?? "");
    this.videos = new Map(Object.entries(found ?? {}));
  }

  /** What is begun in a video: {draft, aside}; `aside` waits while something else is corrected. */
  of(video) {
    return this.videos.get(video) ?? { draft: newDraft(), aside: null };
  }

  keep(video, draft, aside) {
    if (isBlank(draft) && !draft.editing && !aside) this.videos.delete(video);
    else this.videos.set(video, { draft, aside });
    remember(this.name, JSON.stringify(Object.fromEntries(this.videos)));
  }
}
