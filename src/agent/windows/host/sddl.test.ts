import { expect, test } from 'vitest'
import { adminOnlySddl } from '../operations/files.ts'
import { toSddl, toFileMode } from './sddl.ts'

test.each([
  [adminOnlySddl.file, false, 0o600],
  [adminOnlySddl.directory, true, 0o700],
  ['O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)', false, 0o644],
  ['O:BAG:SYD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)', true, 0o755],
  ['O:SYG:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;WD)', false, 0o666],
  ['O:SYG:SYD:AI(A;;FA;;;S-1-5-21-1-2-3-1001)(A;ID;FA;;;SY)', false, 0o666],
  ['O:SYG:SYD:AI(A;OICI;FA;;;BU)(A;OICIID;FA;;;SY)', true, 0o777],
  // Windows gives all users access to a file without an access list. Hyperkube never creates such a file.
  ['', false, 0o644],
])('%s is as the plan would say it', (sddl, isProgram, mode) => {
  expect(toFileMode(sddl, isProgram)).toBe(mode)
})

test.each([
  [0o600, 'file', adminOnlySddl.file],
  [0o700, 'directory', adminOnlySddl.directory],
  [0o644, 'file', 'O:SYG:SYD:AI'],
  [0o755, 'directory', 'O:SYG:SYD:AI'],
] as const)('mode %i of a %s', (mode, kind, sddl) => {
  expect(toSddl(mode, kind)).toBe(sddl)
})
