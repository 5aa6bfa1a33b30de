import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseInclude, parseSshConfig, readSshConfig } from './ssh-config.ts'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hyperkube-home-'))
  await mkdir(join(home, '.ssh/more'), { recursive: true })
})
afterEach(async () => rm(home, { recursive: true }))

test('setting names are case-insensitive, and values may be quoted', () => {
  const { lookup } = parseSshConfig('HOST a\n  hostname="1.2.3.4"\n  PORT = 24\n  identitiesonly YES')
  expect(lookup('a')).toMatchObject({ hostName: '1.2.3.4', port: 24, identitiesOnly: true })
  expect(lookup('b')).toMatchObject({ identityFiles: [], identitiesOnly: false })
})

test('an invalid port is ignored', () => {
  expect(parseSshConfig('Port 70000').lookup('a').port).toBeUndefined()
  expect(parseSshConfig('Port ssh').lookup('a').port).toBeUndefined()
})

test('reading the configuration runs no program', async () => {
  const file = join(home, 'ran')
  const text = `Match exec "touch ${file}"\n  User evil\nHost *\n  CanonicalizeHostname yes\n  CanonicalDomains a.example b.example\n  User good`
  expect(parseSshConfig(text).lookup('host').user).toBe('good')
  expect(await readdir(home)).toEqual(['.ssh'])
})

test.each(['Host', 'User "ada', 'Match host'])('%j is reported as SSH_CONFIG_NOT_READ', (text) => {
  expect(() => parseSshConfig(text)).toThrow(
    expect.objectContaining({
      code: 'SSH_CONFIG_NOT_READ',
      message: expect.stringContaining('cannot read ~/.ssh/config: '),
    }),
  )
})

test('included files are inserted at their Include line in order, and missing files are ignored', async () => {
  await writeFile(
    join(home, '.ssh/config'),
    'Include more/*.conf ~/.ssh/none\nInclude "more/b file"\nHost *\n  User last',
  )
  await writeFile(join(home, '.ssh/more/1.conf'), 'Host one\n  User first\n')
  await writeFile(join(home, '.ssh/more/2.conf'), 'Host one two\n  User second\n')
  await writeFile(join(home, '.ssh/more/b file'), 'Host three\n  User third\n')
  const { lookup } = await readSshConfig(home)
  expect(['one', 'two', 'three', 'four'].map((name) => lookup(name).user)).toEqual([
    'first',
    'second',
    'third',
    'last',
  ])
})

test('a file that includes itself is read once', async () => {
  await writeFile(join(home, '.ssh/config'), 'User ada\nInclude config')
  expect((await readSshConfig(home)).lookup('a').user).toBe('ada')
})

test('a missing configuration file is allowed', async () => {
  expect((await readSshConfig(join(home, 'none'))).lookup('a').user).toBeUndefined()
})

test('parseInclude recognizes only Include lines', () => {
  expect(parseInclude('  include = a "b c"')).toEqual(['a', 'b c'])
  expect(parseInclude('IncludeMore a')).toBeUndefined()
  expect(parseInclude('# Include a')).toBeUndefined()
})
