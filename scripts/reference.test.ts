import { expect, test } from 'vitest'
import { clusterReference, committedReference } from './reference.ts'

test('docs/reference/cluster.md is what npm run reference makes', async () => {
  expect(await committedReference()).toBe(clusterReference())
})
