import { expect, test } from 'vitest'
import { inMemory } from '../testing/fake-fact-source.ts'
import { programs } from './programs.ts'

test('programs are where services look for them', async () => {
  const files = {
    '/usr/sbin/nft': '',
    '/bin/mount': '',
    '/usr/local/bin/socat': '',
    '/home/me/bin/iptables': '',
  }
  expect(await programs(inMemory({ files }))).toEqual(['mount', 'nft', 'socat'])
})
