import { expect, test } from 'vitest'
import { formatHolder, isHolderGone } from './lock-holder.ts'

const here = { user: 'ana', home: '/home/ana', machine: 'laptop', sshAgent: undefined }

test('a holder is gone when its process on this machine is, and only then', () => {
  const holder = formatHolder(here, 4711)
  expect(holder).toBe('ana@laptop (process 4711)')
  expect(isHolderGone(holder, here, () => false)).toBe(true)
  expect(isHolderGone(holder, here, () => true)).toBe(false)
  expect(isHolderGone('bob@tower (process 4711)', here, () => false)).toBe(false)
  expect(isHolderGone('unknown', here, () => false)).toBe(false)
})
