import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { startEchoServer } from './testing/echo-server.ts'
import { createLocalRemote } from './local-remote.ts'
import { testRemoteContract } from './testing/remote-contract.ts'

let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-local-'))
})
afterAll(async () => rm(directory, { recursive: true }))

const remote = createLocalRemote('here')

testRemoteContract('this machine', {
  remote: () => remote,
  connectAnother: async () => createLocalRemote('here'),
  directory: () => directory,
  endsPrograms: true,
  killed: 137,
  root: process.getuid?.() === 0,
  megabytes: 4,
  echo: startEchoServer(),
})
