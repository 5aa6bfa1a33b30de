import { expect, test } from 'vitest'
import { rightsOf } from './root-permissions.ts'

function rights(stdout: string, stderr = ''): readonly string[] {
  return rightsOf({ stdout, stderr }, 'cp1', 'ada')(['id', '-u'])
}

test('root needs nothing, others need sudo; a greeting does not matter', () => {
  expect(rights('hyperkube rights: root\n')).toEqual(['id', '-u'])
  expect(rights('welcome!\nhyperkube rights: sudo\n')).toEqual(['sudo', '-n', '--', 'id', '-u'])
})

test.each([
  ['a password is required', 'SSH_SUDO_PASSWORD'],
  ['interactive authentication is required', 'SSH_SUDO_PASSWORD'],
  ['ada is not in the sudoers file.', 'SSH_NO_SUDO'],
  ['', 'SSH_NO_SUDO'],
])('sudo says %j', (words, code) => {
  const hint = `as root on the host: echo 'ada ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/hyperkube`
  expect(() => rights('', `sudo: ${words}\n`)).toThrow(expect.objectContaining({ code, host: 'cp1', hint }))
})

test('no sudo at all, and one that wants a terminal', () => {
  expect(() => rights('hyperkube rights: no sudo\n')).toThrow(
    expect.objectContaining({ code: 'SSH_NO_SUDO', hint: expect.stringContaining('install sudo') }),
  )
  expect(() => rights('', 'sudo: sorry, you must have a tty to run sudo\n')).toThrow(
    expect.objectContaining({ code: 'SSH_NO_SUDO', hint: expect.stringContaining('!requiretty') }),
  )
})

test('sudo’s own words are shown, and cannot paint', () => {
  expect(() => rights('', 'sudo: \u001B[2Jno\n')).toThrow(String.raw`it says: sudo: \u001b[2Jno`)
})
