import { expect, test } from 'vitest'
import { setVersions } from './set-versions.ts'

const text = `# The shop.
spec:
  kubernetes: "1.32.13" # old
  hosts:
    - { name: cp1 }
  rollout:
    maxUnavailable: 1
`

test('workers that stay behind get a field, and other text is kept', () => {
  expect(setVersions(text, { kubernetes: '1.33.13', workers: '1.32.13' })).toBe(
    `${text.replace('"1.32.13"', '"1.33.13"')}  workers: { kubernetes: "1.32.13" }\n`,
  )
})

test('the field is removed when workers follow', () => {
  const between = setVersions(text, { kubernetes: '1.33.13', workers: '1.32.13' })
  expect(setVersions(between, { kubernetes: '1.34.10', workers: '1.34.10' })).toBe(
    text.replace('"1.32.13"', '"1.34.10"'),
  )
})

test('a field that a person wrote as a block is replaced', () => {
  const written = text.replace('  rollout:', '  workers:\n    kubernetes: 1.31.0\n  rollout:')
  const changed = setVersions(written, { kubernetes: '1.34.10', workers: '1.32.13' })
  expect(changed).toContain('  workers: { kubernetes: "1.32.13" }\n  rollout:\n    maxUnavailable: 1\n')
  expect(setVersions(changed, { kubernetes: '1.34.10', workers: '1.34.10' })).toBe(
    text.replace('"1.32.13"', '"1.34.10"'),
  )
})
