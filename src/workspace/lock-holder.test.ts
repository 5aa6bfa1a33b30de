import { expect, test } from 'vitest'
import { formatHolder, isHolderGone } from './lock-holder.ts'

const here = { user: 'ana', home: '/home/ana', machine: 'laptop', sshAgent: undefined }

test('a lock holder is stale only if its process on this machine does not exist', () => {
  const holder = formatHolder(here, 4711)
  expect(holder).toBe('ana@laptop (process 4711)')
  expect(isHolderGone(holder, here, () => false)).toBe(true)
  expect(isHolderGone(holder, here, () => true)).toBe(false)
  expect(isHolderGone('bob@tower (process 4711)', here, () => false)).toBe(false)
  expect(isHolderGone('unknown', here, () => false)).toBe(false)
})
