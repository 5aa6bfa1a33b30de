import { expect, test } from 'vitest'
import { readDecisionTree, readPicture, renderDecisionTree } from './diagrams.ts'

const mermaid = `flowchart TD
  %% picture: public/diagrams/example.svg
  start["doctor"] --> down{"Is the API <down>?"}
  down -->|yes| wait["wait"]
  down -->|no| done["nothing to do"]
`

test('draws every text of a decision tree', () => {
  const svg = renderDecisionTree('Example', readDecisionTree(mermaid))
  for (const text of ['doctor', 'Is the API &lt;down&gt;?', 'wait', 'nothing to do', 'yes', 'no'])
    expect(svg).toContain(`>${text}</text>`)
})

test('fails for a node without text', () => {
  expect(() => readDecisionTree('a["first"] --> b')).toThrow('no text for b')
})

test('reads the picture of a Mermaid block', () => {
  expect(readPicture(mermaid)).toBe('diagrams/example.svg')
  expect(readPicture('flowchart TD')).toBeUndefined()
})
