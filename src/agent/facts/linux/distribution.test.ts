import { expect, test } from 'vitest'
import { parseRelease } from './distribution.ts'

const ubuntu = `PRETTY_NAME="Ubuntu 24.04.1 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.1 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
`
const rhel = `NAME="Red Hat Enterprise Linux"
VERSION="9.4 (Plow)"
ID="rhel"
ID_LIKE="fedora"
VERSION_ID="9.4"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Red Hat Enterprise Linux 9.4 (Plow)"
ANSI_COLOR="0;31"
`
const arch = `NAME="Arch Linux"
PRETTY_NAME="Arch Linux"
ID=arch
BUILD_ID=rolling
`

test.each([
  [ubuntu, { id: 'ubuntu', version: '24.04', name: 'Ubuntu 24.04.1 LTS' }],
  [rhel, { id: 'rhel', version: '9.4', name: 'Red Hat Enterprise Linux 9.4 (Plow)' }],
  [arch, { id: 'arch', version: '', name: 'Arch Linux' }],
  [
    `NAME='It'\nID=x\nPRETTY_NAME="a \\"quoted\\" \\$name"\n`,
    { id: 'x', version: '', name: 'a "quoted" $name' },
  ],
  ['', { id: 'linux', version: '', name: 'Linux' }],
])('%j', (text, found) => {
  expect(parseRelease(text)).toEqual(found)
})
