import { expect, test } from 'vitest'
import { readDecisionTree, readPicture, renderDecisionTree } from './diagrams.ts'

const mermaid = `flowchart TD
  %% picture: public/diagrams/example.svg
  start["doctor"] --> down{"Is the API <down>?"}
  down -->|yes| wait["wait"]
  down -->|no| done["nothing to do"]
`

test('a rendered decision tree contains every text', () => {
  const svg = renderDecisionTree('Example', readDecisionTree(mermaid))
  for (const text of ['doctor', 'Is the API &lt;down&gt;?', 'wait', 'nothing to do', 'yes', 'no'])
    expect(svg).toContain(`>${text}</text>`)
})

test('a decision tree with a node without text is refused', () => {
  expect(() => readDecisionTree('a["first"] --> b')).toThrow('no text for b')
})

test('readPicture returns the picture path of a Mermaid block', () => {
  expect(readPicture(mermaid)).toBe('diagrams/example.svg')
  expect(readPicture('flowchart TD')).toBeUndefined()
})
