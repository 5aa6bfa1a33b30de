import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { ensureBase } from '../../lab/hosts/base.ts'
import { listTraces, type Traces } from '../../lab/hosts/cleanup.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { Lab } from '../../lab/hosts/lab.ts'
import { silentReport } from '../../lab/report.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { noTraces, openFreshLab } from '../support/lab.ts'

const five = ['h1', 'h2', 'h3', 'h4', 'h5']

/** True if the host `from` gets a response from this address and port, by default the port of sshd. */
async function canReach(from: Host, address: string, port = 22): Promise<boolean> {
  const { stdout } = await from.script(
    `timeout 2 socat -T2 - TCP4:${address}:${port},connect-timeout=2 </dev/null 2>/dev/null | head -c 4 || true`,
  )
  return stdout !== ''
}

describe('a lab of five hosts', () => {
  let lab: Lab
  let upTime: number

  beforeAll(async () => {
    lab = await openFreshLab('hosts')
    await ensureBase(cacheDirectory(), silentReport)
    const started = performance.now()
    await lab.up(five)
    upTime = performance.now() - started
  })
  afterAll(async () => lab.down())

  test('is up in under 20 seconds', () => {
    expect(upTime).toBeLessThan(20_000)
  })

  test('has five distinct machines', async () => {
    const identities = await Promise.all(
      (await lab.hosts()).map(async (host) => {
        const { stdout } = await host.script(
          'hostname; cat /etc/machine-id; cut -d" " -f2 /etc/ssh/ssh_host_ed25519_key.pub; ip -4 -br a show eth0',
        )
        return stdout.trim().split('\n')
      }),
    )
    expect(identities.map(([name]) => name)).toEqual(five)
    for (const column of [1, 2, 3]) expect(new Set(identities.map((each) => each[column])).size).toBe(5)
  })

  test('boots without failed units', async () => {
    const states = await Promise.all(
      (await lab.hosts()).map(async (host) => {
        const { stdout } = await host.exec(['systemctl', 'is-system-running', '--wait'], {
          allowFailure: true,
        })
        return stdout.trim()
      }),
    )
    expect(states).toEqual(five.map(() => 'running'))
  })

  test('is not changed by a second up', async () => {
    // Start time of the first process of each host, counted from the boot of the machine that runs the lab.
    const boots = async (): Promise<string[]> =>
      Promise.all(
        (await lab.hosts()).map(async (host) => (await host.script(`cut -d' ' -f22 /proc/1/stat`)).stdout),
      )
    const first = await boots()
    await lab.up(five)
    expect(await boots()).toEqual(first)
  })

  test('restarts a crashed host with its files, name and key', async () => {
    const host = await lab.host('h2')
    const id = (await host.script('cat /etc/machine-id; echo kept > /root/kept')).stdout
    await host.crash()
    expect(await host.isRunning()).toBe(false)
    const started = performance.now()
    await lab.start('h2')
    // The restarted host has its previous hardware address, so the other hosts reach it at once.
    expect(performance.now() - started).toBeLessThan(15_000)
    expect((await host.script('cat /etc/machine-id /root/kept')).stdout).toBe(`${id}kept\n`)
  })

  test('reaches only its own hosts and its gateway, and no other lab', async () => {
    const other = await openFreshLab('other')
    // This service listens on every address of the machine that runs the lab. A host may reach it only at the
    // gateway of its own lab.
    const service = createServer((_request, response) => response.end('reached'))
    service.on('connection', (socket) => socket.write('hello'))
    try {
      const [foreignHost] = await other.up(['h1'])
      await new Promise<void>((resolve) => service.listen(0, '0.0.0.0', resolve))
      const bound = service.address()
      const port = typeof bound === 'object' && bound !== null ? bound.port : 0
      const host = await lab.host('h1')
      expect(other.network).not.toBe(lab.network)
      expect({
        otherHost: await canReach(host, (await lab.host('h2')).address),
        gateway: await canReach(host, lab.gateway, port),
        otherLab: await canReach(host, foreignHost?.address ?? ''),
        otherGateway: await canReach(host, other.gateway, port),
      }).toEqual({ otherHost: true, gateway: true, otherLab: false, otherGateway: false })
    } finally {
      service.close()
      service.closeAllConnections()
      await other.down()
    }
    expect(await listTraces(other.name, other.network)).toEqual(noTraces)
    expect(await Promise.all((await lab.hosts()).map(async (host) => host.isRunning()))).toEqual(
      five.map(() => true),
    )
  })

  test('refuses a disk fault on a host without its own disk', async () => {
    const host = await lab.host('h1')
    await expect(host.powerCut()).rejects.toMatchObject({ code: 'HOST_HAS_NO_DISK' })
  })

  test('is removed completely by down, and a second down does not affect the next lab', async () => {
    await lab.down()
    expect(await listTraces(lab.name, lab.network)).toEqual(noTraces)
    const nextLab = await openFreshLab('heir')
    try {
      expect(nextLab.network).toBe(lab.network)
      const [host] = await nextLab.up(['h1'])
      await lab.down()
      expect(await host?.isRunning()).toBe(true)
    } finally {
      await nextLab.down()
    }
  })
})

describe('an up that is killed', () => {
  let lab: Lab
  afterEach(async () => lab.down())

  /** Runs `lab up`, kills it once `reached` is true, and checks that it had not ended before. */
  async function killUp(reached: (found: Traces) => boolean): Promise<void> {
    const main = join(import.meta.dirname, '../../lab/main.ts')
    const argv = [main, '--lab', lab.name, 'up', '3', '--disk', 'loop']
    const child = spawn(process.execPath, argv, { stdio: 'ignore' })
    const ended = once(child, 'exit')
    try {
      await pollUntil('the moment to kill', async () => reached(await listTraces(lab.name, lab.network)), {
        timeoutMs: 20_000,
        intervalMs: 5,
      })
    } finally {
      child.kill('SIGKILL')
    }
    expect(await ended).toEqual([null, 'SIGKILL'])
  }

  const moments: [string, (found: Traces) => boolean][] = [
    ['when the bridge exists', ({ links }) => links.length > 0],
    ['when the first disk is mounted', ({ loops }) => loops.length > 0],
    ['when the first namespace exists', ({ namespaces }) => namespaces.length > 0],
    ['when the first host boots', ({ processes }) => processes.length > 0],
  ]

  test.each(moments)('%s: down removes everything', async (_when, reached) => {
    lab = await openFreshLab('killed')
    await killUp(reached)
    await lab.down()
    expect(await listTraces(lab.name, lab.network)).toEqual(noTraces)
  })

  test.each(moments)('%s: another up completes the lab', async (_when, reached) => {
    lab = await openFreshLab('killed')
    await killUp(reached)
    const hosts = await lab.up(['h1', 'h2', 'h3'], { disk: 'loop' })
    const [first, second] = hosts
    const names = await Promise.all(hosts.map(async (host) => (await host.exec(['hostname'])).stdout.trim()))
    expect(names).toEqual(['h1', 'h2', 'h3'])
    expect(first && second && (await canReach(first, second.address))).toBe(true)
  })
})

test('two commands on one lab run one after the other', async () => {
  const lab = await openFreshLab('turns')
  try {
    const same = await Lab.open({ name: lab.name, cache: cacheDirectory() })
    const [one = [], two = []] = await settleAll([lab.up(['h1']), same.up(['h1', 'h2'])])
    expect(one.map(({ address }) => address)).toEqual([two[0]?.address])
  } finally {
    await lab.down()
  }
})
