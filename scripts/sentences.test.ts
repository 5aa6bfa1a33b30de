import { expect, test } from 'vitest'
import { countWords, listSentences } from './sentences.ts'

test('prose is split into sentences, without code, tables and headings', () => {
  const text = `# A title

First sentence of two. The second one links [a page](other.md).

| a table | cell |

- An item of a list.

\`\`\`sh
not prose at all
\`\`\`
`
  expect(listSentences(text)).toEqual([
    'First sentence of two.',
    'The second one links [a page].',
    '- An item of a list.',
  ])
})

test('words are counted without punctuation', () => {
  expect(countWords('- An item → of `a list`.')).toBe(5)
})
