import { expect, test } from 'vitest'
import { adminOnlySddl } from '../windows-operations/files.ts'
import { findForeignOwner, toFileMode, toSddl } from './access-list.ts'

const user = 'S-1-5-21-1-2-3-1001'
const trustedInstaller = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464'

test.each([
  [adminOnlySddl.file, false, 0o600],
  [adminOnlySddl.directory, true, 0o700],
  ['O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)', false, 0o644],
  ['O:BAG:SYD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)', true, 0o755],
  ['O:SYG:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;WD)', false, 0o666],
  [`O:SYG:SYD:AI(A;;FA;;;${user})(A;ID;FA;;;SY)`, false, 0o666],
  ['O:SYG:SYD:AI(A;OICI;FA;;;BU)(A;OICIID;FA;;;SY)', true, 0o777],
  // The owner of a file may replace its access list. A foreign owner therefore counts as access for everyone.
  [adminOnlySddl.directory.replace('O:SY', `O:${user}`), true, 0o777],
  [adminOnlySddl.file.replace('O:SY', 'O:BU'), false, 0o666],
  [adminOnlySddl.directory.replace('O:SY', `O:${trustedInstaller}`), true, 0o700],
  // Windows gives all users access to a file without an access list.
  ['O:SYG:SYD:NO_ACCESS_CONTROL', true, 0o777],
  ['O:SYG:SY', false, 0o666],
  ['', false, 0o666],
])('the access list %s is converted to a file mode', (sddl, isProgram, mode) => {
  expect(toFileMode(sddl, isProgram)).toBe(mode)
})

test.each([
  [0o600, 'file', adminOnlySddl.file],
  [0o700, 'directory', adminOnlySddl.directory],
  [0o644, 'file', 'O:SYG:SYD:AI'],
  [0o755, 'directory', 'O:SYG:SYD:AI'],
] as const)('the mode %i of a %s is converted to an access list', (mode, kind, sddl) => {
  expect(toSddl(mode, kind)).toBe(sddl)
})

test.each([
  ['O:SYG:SYD:', undefined],
  ['O:BAG:SYD:', undefined],
  ['O:S-1-5-32-544G:SYD:', undefined],
  [`O:${trustedInstaller}G:SYD:`, undefined],
  [`O:${user}G:SYD:`, user],
  // S-1-5-32-5440 only starts like the SID of the administrators. It is another account.
  ['O:S-1-5-32-5440G:SYD:', 'S-1-5-32-5440'],
  ['O:LAG:LAD:', 'LA'],
  ['G:SYD:', 'unknown'],
])('the owner of the access list %s is foreign unless it is trusted', (sddl, owner) => {
  expect(findForeignOwner(sddl)).toBe(owner)
})
