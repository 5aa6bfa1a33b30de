import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { readPrograms } from './programs.ts'

test('programs are where services look for them', async () => {
  const files = {
    '/usr/sbin/nft': '',
    '/bin/mount': '',
    '/usr/local/bin/socat': '',
    '/home/me/bin/iptables': '',
  }
  expect(await readPrograms(createFakeFactSource({ files }))).toEqual(['mount', 'nft', 'socat'])
})
