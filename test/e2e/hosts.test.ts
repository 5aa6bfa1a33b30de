import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { cgroupsWithPrefix } from '../../lab/hosts/cgroup.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { links, namespaces, tables } from '../../lab/hosts/network.ts'
import { type Traces, traces } from '../../lab/hosts/sweep.ts'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/until.ts'
import { freshLab, noTraces } from '../support/lab.ts'

/** The machine as it stands, beyond what bears a lab's name. */
async function machine(): Promise<Record<string, readonly string[]>> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n')
  return {
    links: await links(''),
    namespaces: await namespaces(''),
    tables: await tables(''),
    cgroups: (await cgroupsWithPrefix('')).toSorted(),
    mounts: mounts.map((line) => line.split(' ')[4] ?? '').toSorted(),
    loops: (await run(['losetup', '--list', '--noheadings'])).stdout.split('\n').toSorted(),
    nspawn: (await run(['pgrep', 'systemd-nspawn'], { allowFailure: true })).stdout.split('\n'),
  }
}

describe('a lab of five', () => {
  let lab: Lab
  let before: Awaited<ReturnType<typeof machine>>
  let upTime: number

  beforeAll(async () => {
    lab = await freshLab('hosts')
    before = await machine()
    const started = performance.now()
    await lab.up(['h1', 'h2', 'h3', 'h4', 'h5'])
    upTime = performance.now() - started
  })
  afterAll(async () => lab.down())

  test('is up in under 20 seconds', () => {
    expect(upTime).toBeLessThan(20_000)
  })

  test('has five machines that are told apart', async () => {
    const hosts = await lab.hosts()
    const told = await Promise.all(
      hosts.map(async (host) => {
        const { stdout } = await host.script(
          'hostname; cat /etc/machine-id /etc/ssh/ssh_host_ed25519_key.pub; ip -4 -br a show eth0',
        )
        return stdout.trim().split('\n')
      }),
    )
    expect(told.map(([name]) => name)).toEqual(['h1', 'h2', 'h3', 'h4', 'h5'])
    for (const column of [1, 2, 3]) expect(new Set(told.map((each) => each[column])).size).toBe(5)
  })

  test('boots whole: no unit failed', async () => {
    const states = await Promise.all(
      (await lab.hosts()).map(async (host) => {
        const { stdout } = await host.exec(['systemctl', 'is-system-running', '--wait'], {
          allowFailure: true,
        })
        return `${host.name} ${stdout.trim()}`
      }),
    )
    expect(states).toEqual(['h1 running', 'h2 running', 'h3 running', 'h4 running', 'h5 running'])
  })

  test('is left as it is by a second up', async () => {
    const bootIds = async (): Promise<string[]> =>
      Promise.all((await lab.hosts()).map(async (host) => (await host.script('stat -c %Y /proc/1')).stdout))
    const first = await bootIds()
    await lab.up(['h1', 'h2', 'h3', 'h4', 'h5'])
    expect(await bootIds()).toEqual(first)
  })

  test('a crashed host comes back with what it wrote, and with its name and key', async () => {
    const host = await lab.host('h2')
    const key = (await host.script('cat /etc/machine-id; echo kept > /root/kept')).stdout
    await host.crash()
    expect(await host.isRunning()).toBe(false)
    await lab.start('h2')
    expect((await host.script('cat /etc/machine-id /root/kept')).stdout).toBe(`${key}kept\n`)
  })

  test('does not meet another lab', async () => {
    const other = await freshLab('other')
    try {
      const [stranger] = await other.up(['h1'])
      const host = await lab.host('h1')
      expect(other.network).not.toBe(lab.network)
      const ping = await host.exec(['ping', '-c1', '-W1', stranger?.address ?? ''], { allowFailure: true })
      expect(ping.code).not.toBe(0)
    } finally {
      await other.down()
    }
    expect(await traces(other.name, other.network)).toEqual(noTraces)
    expect(await Promise.all((await lab.hosts()).map(async (host) => host.isRunning()))).toEqual(
      Array.from({ length: 5 }, () => true),
    )
  })

  test('down leaves the machine as it was', async () => {
    await lab.down()
    expect(await traces(lab.name, lab.network)).toEqual(noTraces)
    expect(await machine()).toEqual(before)
  })
})

describe('up, killed in the middle', () => {
  let lab: Lab
  let child: ChildProcess | undefined
  afterEach(async () => {
    child?.kill('SIGKILL')
    await lab.down()
  })

  test.each([
    ['when the bridge is there', async (found: Traces) => found.links.length > 0],
    ['when the first namespace is there', async (found: Traces) => found.namespaces.length > 0],
    ['when the first disk is mounted', async (found: Traces) => found.loops.length > 0],
    ['when the first host boots', async (found: Traces) => found.processes.length > 0],
  ])('%s: down leaves the machine as it was, and up works again', async (_when, reached) => {
    lab = await freshLab('killed')
    const before = await machine()
    const main = join(import.meta.dirname, '../../lab/main.ts')
    child = spawn(process.execPath, [main, '--lab', lab.name, 'up', '3', '--disk', 'loop'], {
      stdio: 'ignore',
    })
    const ended = once(child, 'exit')
    await until('the moment to kill', async () => reached(await traces(lab.name, lab.network)), {
      within: 20_000,
      every: 5,
    })
    child.kill('SIGKILL')
    await ended
    await lab.down()
    expect(await traces(lab.name, lab.network)).toEqual(noTraces)
    expect(await machine()).toEqual(before)

    lab = await freshLab('killed')
    const [host] = await lab.up(['h1'])
    expect((await host?.exec(['hostname']))?.stdout).toBe('h1\n')
  })
})
