import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readCluster } from './read-cluster.ts'

const directory = join(import.meta.dirname, '../../examples')
const examples = globSync('*.yml', { cwd: directory })

test.each(examples)('examples/%s is valid, without a warning', (file) => {
  const { cluster, findings } = readCluster({ file, text: readFileSync(join(directory, file), 'utf8') })
  expect(findings).toEqual([])
  expect(cluster).toBeDefined()
})

test('there are examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(5)
})
