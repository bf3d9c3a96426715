"""What is counted on the pages, with its number: one of it, and several."""

from annotate_app.language import marked_n

COUNTED = {
    one.removeprefix("{n} "): (one, several)
    for one, several in (
        marked_n("{n} annotator", "{n} annotators"),
        marked_n("{n} answer", "{n} answers"),
        marked_n("{n} assignment", "{n} assignments"),
        marked_n("{n} batch", "{n} batches"),
        marked_n("{n} candidate", "{n} candidates"),
        marked_n("{n} caption", "{n} captions"),
        marked_n("{n} clip", "{n} clips"),
        marked_n("{n} day", "{n} days"),
        marked_n("{n} description", "{n} descriptions"),
        marked_n("{n} entry", "{n} entries"),
        marked_n("{n} frame", "{n} frames"),
        marked_n("{n} further pair", "{n} further pairs"),
        marked_n("{n} grade", "{n} grades"),
        marked_n("{n} graded moment", "{n} graded moments"),
        marked_n("{n} imprecise caption", "{n} imprecise captions"),
        marked_n("{n} imported judgement", "{n} imported judgements"),
        marked_n("{n} simulated judgement", "{n} simulated judgements"),
        marked_n("{n} item", "{n} items"),
        marked_n("{n} moment", "{n} moments"),
        marked_n("{n} name", "{n} names"),
        marked_n("{n} note", "{n} notes"),
        marked_n("{n} older one", "{n} older ones"),
        marked_n("{n} other", "{n} others"),
        marked_n("{n} other pair", "{n} other pairs"),
        marked_n("{n} pair", "{n} pairs"),
        marked_n("{n} person", "{n} people"),
        marked_n("{n} prediction", "{n} predictions"),
        marked_n("{n} query", "{n} queries"),
        marked_n("{n} rate", "{n} rates"),
        marked_n("{n} reply", "{n} replies"),
        marked_n("{n} run", "{n} runs"),
        marked_n("{n} shot", "{n} shots"),
        marked_n("{n} simulated one", "{n} simulated ones"),
        marked_n("{n} skip", "{n} skips"),
        marked_n("{n} test query", "{n} test queries"),
        marked_n("{n} text", "{n} texts"),
        marked_n("{n} video", "{n} videos"),
        marked_n("{n} wrong video", "{n} wrong videos"),
    )
}
"""The texts for a number of something, by what it is called in English."""
