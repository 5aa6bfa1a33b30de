import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { checkHostKey } from '../../src/identity/host-key.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { fingerprint } from '../../src/kit/ssh-public-key.ts'
import { connectBuiltIn } from '../../src/ssh/built-in-ssh.ts'
import type { Hop } from '../../src/ssh/hop.ts'
import {
  connectOptions,
  readHostKey,
  setUpSshLab,
  signal,
  startExtraSshd,
  withRemote,
} from '../support/ssh-lab.ts'

const { clients, getHosts, routeTo } = setUpSshLab('ssh-authentication')
let h1: Host
let h2: Host
let local = ''

beforeAll(() => void ({ h1, h2, local } = getHosts()))

describe.each(clients)('host key verification by the %s ssh', (_name, connectTo) => {
  /** Lists login attempts in the log of sshd. */
  const logins = async (): Promise<string[]> => {
    const { stdout } = await h1.exec(['journalctl', '-u', 'ssh', '-o', 'cat', '--no-pager'])
    return stdout.split('\n').filter((line) => /Accepted|Failed|authenticating user/.test(line))
  }

  test('calls verify on first use, and fails with the error of verify', async () => {
    const shownKeys: [string, string][] = []
    const changed = new Error('another machine')
    const verify = (key: string, hop: Hop): 'first-use' => {
      shownKeys.push([key, hop.name])
      if (shownKeys.length > 1) throw changed
      return 'first-use'
    }
    await withRemote(connectTo(routeTo(h1), { verify }), async (remote) => {
      expect((await remote.exec(['hostname'], { signal })).stdout).toBe('h1\n')
    })
    await expect(connectTo(routeTo(h1), { verify })).rejects.toBe(changed)
    const key = await readHostKey(h1)
    expect(shownKeys).toEqual([
      [key, 'h1'],
      [key, 'h1'],
    ])
  })

  test('does not call verify for a pinned key', async () => {
    const key = await readHostKey(h1)
    const verify = (): never => {
      throw new Error('verify was called')
    }
    await withRemote(connectTo(routeTo(h1), { verify, pinned: () => [key] }), async (remote) => {
      expect((await remote.exec(['true'], { signal })).code).toBe(0)
    })
  })

  test('refuses a key other than the pinned one before the login', async () => {
    const [first, other] = [await readHostKey(h1), await readHostKey(h2)]
    const changed = new Error('changed')
    const before = await logins()
    const verify = (key: string): never => {
      expect(key).toBe(first)
      throw changed
    }
    await expect(connectTo(routeTo(h1), { verify, pinned: () => [other] })).rejects.toBe(changed)
    const offered = (await logins()).slice(before.length).filter((line) => /Accepted|Failed/.test(line))
    expect(offered).toEqual([])
  })

  test('reports a changed key with the error of checkHostKey', async () => {
    const identity = { hostKeys: { h1: [await readHostKey(h2)] } }
    const verify = (key: string, hop: Hop): 'known' | 'first-use' => checkHostKey(identity, hop.name, key)
    for (const pinned of [[], identity.hostKeys.h1]) {
      await expect(connectTo(routeTo(h1), { verify, pinned: () => pinned })).rejects.toMatchObject({
        code: 'SSH_HOST_KEY_CHANGED',
        host: 'h1',
        message: expect.stringContaining(`now it is ${fingerprint(await readHostKey(h1))}`),
      })
    }
  })

  test('requests the pinned key type from a host with several keys', async () => {
    await h1.script(
      `cd /root; [ -e k_ec ] || { ssh-keygen -q -t ed25519 -N '' -f k_ed; ssh-keygen -q -t ecdsa -N '' -f k_ec; }`,
    )
    await startExtraSshd(h1, 2203, 'HostKey=/root/k_ed', 'HostKey=/root/k_ec')
    const [type = '', blob = ''] = (await h1.exec(['cat', '/root/k_ec.pub'])).stdout.split(' ')
    const pinned = `${type} ${blob}`
    const verify = (key: string): never => {
      throw new Error(`shown ${key}`)
    }
    await withRemote(
      connectTo(routeTo(h1, { port: 2203 }), { verify, pinned: () => [pinned] }),
      async (remote) => {
        expect((await remote.exec(['true'], { signal })).code).toBe(0)
      },
    )
  })
})

test('the built-in ssh sends the user name only after the host key is verified', async () => {
  const journal = async (): Promise<string> =>
    (await h1.exec(['journalctl', '-u', 'ssh', '-o', 'cat', '--no-pager'])).stdout
  const verify = (): never => {
    throw new Error('wrong')
  }
  await expect(connectBuiltIn(routeTo(h1, { user: 'early' }), { ...connectOptions, verify })).rejects.toThrow(
    'wrong',
  )
  await expect(connectBuiltIn(routeTo(h1, { user: 'later' }), connectOptions)).rejects.toMatchObject({
    code: 'SSH_NO_KEY_ACCEPTED',
  })
  const log = await pollUntil(
    'sshd to log the second',
    async () => {
      const text = await journal()
      return text.includes('later') && text
    },
    { timeoutMs: 10_000 },
  )
  expect(log).not.toContain('early')
})

describe.each(clients)('keys by the %s ssh', (_name, connectTo) => {
  const makeKey = async (name: string, passphrase = ''): Promise<string> => {
    const path = join(local, `${name}-${randomBytes(4).toString('hex')}`)
    await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', passphrase, '-C', name, '-f', path])
    return path
  }

  test('a key that the host refuses is named with the methods that the host accepts', async () => {
    const key = await makeKey('wrong')
    await expect(connectTo(routeTo(h1, { key }))).rejects.toMatchObject({
      code: 'SSH_NO_KEY_ACCEPTED',
      host: 'h1',
      message: expect.stringMatching(
        new RegExp(`^root@${h1.address} accepts none of the offered keys: ${key} \\(SHA256:[^)]+\\)`),
      ),
      hint: `ssh-copy-id root@${h1.address}`,
    })
  })

  test('several keys are tried in order', async () => {
    const wrong = await makeKey('wrong')
    const keys = [wrong, h1.ssh.keyFile].map((path) => ({ path, from: 'settings' as const }))
    await withRemote(connectTo({ ...routeTo(h1), keys }), async (remote) => {
      expect((await remote.exec(['true'], { signal })).code).toBe(0)
    })
  })

  test('a missing key file is named', async () => {
    await expect(connectTo(routeTo(h1, { key: 'none' }))).rejects.toMatchObject({
      code: 'SSH_KEY_NOT_READ',
      message: expect.stringContaining(join(local, 'none')),
    })
  })

  test('an encrypted key needs the ssh agent', async () => {
    const key = await makeKey('locked', 'secret')
    await h1.exec(['tee', '-a', '/root/.ssh/authorized_keys'], { input: await readFile(`${key}.pub`) })
    await expect(connectTo(routeTo(h1, { key }))).rejects.toMatchObject({
      code: 'SSH_KEY_ENCRYPTED',
      hint: `ssh-add ${key}`,
    })
    const { socket, end } = await startAgent(key, 'secret')
    try {
      await withRemote(connectTo(routeTo(h1, { key }), { agent: socket }), async (remote) => {
        expect((await remote.exec(['true'], { signal })).code).toBe(0)
      })
    } finally {
      await end()
    }
  })

  test('a host that accepts only passwords has its own message', async () => {
    await startExtraSshd(
      h1,
      2201,
      'PubkeyAuthentication=no',
      'PasswordAuthentication=yes',
      'KbdInteractiveAuthentication=yes',
    )
    await expect(connectTo(routeTo(h1, { port: 2201 }))).rejects.toMatchObject({
      code: 'SSH_NO_KEY_ACCEPTED',
      message: expect.stringMatching(
        /accepts no keys, only (password,keyboard|password, keyboard)-interactive/,
      ),
    })
  })

  test('a host that requires more than a key has its own message', async () => {
    await startExtraSshd(h1, 2202, 'PasswordAuthentication=yes', 'AuthenticationMethods=publickey,password')
    await expect(connectTo(routeTo(h1, { port: 2202 }))).rejects.toMatchObject({
      code: 'SSH_NO_KEY_ACCEPTED',
      message: `root@${h1.address} requires more than a key: password`,
    })
  })

  test('a host that hangs up after too many keys has its own hint', async () => {
    await startExtraSshd(h1, 2204, 'MaxAuthTries=2')
    const paths = [await makeKey('one'), await makeKey('two'), await makeKey('three')]
    const keys = paths.map((path) => ({ path, from: 'settings' as const }))
    await expect(connectTo({ ...routeTo(h1, { port: 2204 }), keys })).rejects.toMatchObject({
      code: 'SSH_NO_KEY_ACCEPTED',
      hint: 'set the right key in cluster.yml: ssh.key',
    })
  })

  async function startAgent(
    key: string,
    passphrase: string,
  ): Promise<{ socket: string; end: () => Promise<void> }> {
    const socket = join(local, `agent-${randomBytes(4).toString('hex')}`)
    const { stdout } = await runProgram(['ssh-agent', '-s', '-a', socket])
    const pid = /SSH_AGENT_PID=(\d+)/.exec(stdout)?.[1] ?? ''
    const askpass = join(local, 'askpass')
    await writeFile(askpass, `#!/bin/sh\necho ${passphrase}\n`, { mode: 0o700 })
    const askpassEnv = {
      SSH_AUTH_SOCK: socket,
      SSH_ASKPASS: askpass,
      SSH_ASKPASS_REQUIRE: 'force',
      DISPLAY: 'none',
    }
    await runProgram(['ssh-add', '-q', key], { env: { ...process.env, ...askpassEnv } })
    return { socket, end: async () => void (await runProgram(['kill', pid])) }
  }
})
