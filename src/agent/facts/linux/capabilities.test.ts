import { expect, test } from 'vitest'
import { lacking } from './capabilities.ts'

test('a machine has all, whatever its kernel knows', () => {
  expect(lacking('CapBnd:\t000001ffffffffff\n', '40\n')).toEqual([])
  // RHEL 7 knew 37, and none after CAP_BLOCK_SUSPEND.
  expect(lacking('CapBnd:\t0000001fffffffff\n', '36\n')).toEqual([])
})

test('a host of the lab lacks one', () => {
  expect(lacking('CapBnd:\t000001fffeffffff\n', '40\n')).toEqual(['CAP_SYS_RESOURCE'])
})

test('a container of Docker lacks most', () => {
  const missing = lacking('CapBnd:\t00000000a80425fb\n', '40\n')
  expect(missing).toHaveLength(41 - 14)
  expect(missing).toEqual(expect.arrayContaining(['CAP_NET_ADMIN', 'CAP_SYS_ADMIN', 'CAP_BPF']))
  expect(missing).not.toContain('CAP_CHOWN')
})
