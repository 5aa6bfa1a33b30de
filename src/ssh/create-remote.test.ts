import { expect, test } from 'vitest'
import { parsePermissions } from './create-remote.ts'

function wrapId(stdout: string, stderr = ''): readonly string[] {
  return parsePermissions({ stdout, stderr }, 'cp1', 'ada')(['id', '-u'])
}

test('root runs programs directly and other users use sudo, also after a login banner', () => {
  expect(wrapId('hyperkube permissions: root\n')).toEqual(['id', '-u'])
  expect(wrapId('welcome!\nhyperkube permissions: sudo\n')).toEqual(['sudo', '-n', '--', 'id', '-u'])
})

test.each([
  ['a password is required', 'SSH_SUDO_PASSWORD'],
  ['interactive authentication is required', 'SSH_SUDO_PASSWORD'],
  ['ada is not in the sudoers file.', 'SSH_NO_SUDO'],
  ['', 'SSH_NO_SUDO'],
])('sudo error %j is reported as %s', (words, code) => {
  const hint = `as root on the host: echo 'ada ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/hyperkube`
  expect(() => wrapId('', `sudo: ${words}\n`)).toThrow(expect.objectContaining({ code, host: 'cp1', hint }))
})

test('a host without sudo, and sudo that requires a terminal, have their own hints', () => {
  expect(() => wrapId('hyperkube permissions: no sudo\n')).toThrow(
    expect.objectContaining({ code: 'SSH_NO_SUDO', hint: expect.stringContaining('install sudo') }),
  )
  expect(() => wrapId('', 'sudo: sorry, you must have a tty to run sudo\n')).toThrow(
    expect.objectContaining({ code: 'SSH_NO_SUDO', hint: expect.stringContaining('!requiretty') }),
  )
})

test('the error text of sudo is shown with escaped control characters', () => {
  expect(() => wrapId('', 'sudo: \u001B[2Jno\n')).toThrow(
    String.raw`sudo does not permit ada: sudo: \u001b[2Jno`,
  )
})
