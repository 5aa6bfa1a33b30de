import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { echoServer } from './testing/echo-server.ts'
import { localRemote } from './local-remote.ts'
import { remoteContract } from './testing/remote-contract.ts'

let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-local-'))
})
afterAll(async () => rm(directory, { recursive: true }))

const remote = localRemote('here')

remoteContract('this machine', {
  remote: () => remote,
  another: async () => localRemote('here'),
  directory: () => directory,
  endsPrograms: true,
  killed: 137,
  root: process.getuid?.() === 0,
  megabytes: 4,
  echo: echoServer(),
})
