import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatInterruptionEvidence } from './interruption-evidence.ts'

const directory = join(import.meta.dirname, '../../docs/evidence')

test.each([
  ['interruptions', '# Interruptions of `up`'],
  ['upgrade-interruptions', '# Interruptions of `upgrade`'],
] as const)('%s.md has the text that its generator writes', async (page, title) => {
  const evidence = { page, date: new Date(), hyperkube: 'hyperkube 0.0.0', kubernetes: '1.37.1' }
  const written = formatInterruptionEvidence({ ...evidence, shape: '1+1', seed: 1, rounds: [] })
    .trim()
    .split('\n\n')
  const committed = (await readFile(join(directory, `${page}.md`), 'utf8')).split('\n\n')
  expect(committed[0]).toBe(title)
  expect(written[0]).toBe(title)
  // The second paragraph has the date and the seed of a run, so it is not compared.
  expect(written[2]).toBe(committed[2])
  const readHeader = (paragraph = ''): string => paragraph.split('\n', 1).join('')
  expect(written.slice(3).map(readHeader)).toEqual(committed.slice(3).map(readHeader))
})
