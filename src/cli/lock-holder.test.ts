import { expect, test } from 'vitest'
import { holderName, isGone } from './lock-holder.ts'

const here = { user: 'ana', home: '/home/ana', machine: 'laptop', sshAgent: undefined }

test('a holder is gone when its process on this machine is, and only then', () => {
  const holder = holderName(here, 4711)
  expect(holder).toBe('ana@laptop (process 4711)')
  expect(isGone(holder, here, () => false)).toBe(true)
  expect(isGone(holder, here, () => true)).toBe(false)
  expect(isGone('bob@desk (process 4711)', here, () => false)).toBe(false)
  expect(isGone('somebody', here, () => false)).toBe(false)
})
