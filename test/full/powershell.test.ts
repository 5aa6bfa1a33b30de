import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { installWine } from '../../lab/prerequisites.ts'
import { terminalReport } from '../../lab/report.ts'
import { powershellForWindows, powershellInWine, powershellVersion } from '../../lab/wine/powershell.ts'
import { newWine, type Wine } from '../../lab/wine/wine.ts'
import { commands } from '../../lab/windows/simulator/powershell-commands.ts'
import { type FirstReport, firstReport } from '../../lab/windows/simulator/first-report.ts'
import { hostContract, hostile } from '../../lab/windows/simulator/host-contract.ts'
import { converse } from '../../src/agent/windows/powershell/session.ts'
import { powershellHost, type PowerShellHost } from '../../src/agent/windows/powershell/powershell-host.ts'
import { hostScript, powershellArguments } from '../../src/agent/windows/powershell/script.ts'
import { type Argv, run } from '../../src/kit/command.ts'
import { powershellText } from '../support/powershell-evidence.ts'
import type { Shown } from '../support/wine-evidence.ts'

const root = join(import.meta.dirname, '../..')
const scratch = String.raw`C:\hyperkube-try`
const spooler = String.raw`C:\windows\system32\spoolsv.exe`

/** What cannot be so in Wine with another PowerShell than that of Windows, and how it ends there. */
const others: Readonly<Record<string, { readonly reason: string; readonly error: RegExp }>> = {
  'it says what it is': {
    reason: `it wants PowerShell 5.1, and this is ${powershellVersion}`,
    error: /\/\^5\\\.1\\\.\//,
  },
}

let wine: Wine
let program: string
let argv: Argv
let script: string
/** The script with stand-ins for commands of Windows before it. */
let whole: string
/** With stand-ins. */
let came: FirstReport | undefined
const shown: Shown[] = []

beforeAll(async () => {
  const report = terminalReport()
  await installWine(report)
  program = await powershellForWindows(cacheDirectory(), report)
  wine = await newWine()
  argv = powershellInWine(wine, program, powershellArguments)
  script = await hostScript()
  whole = `${await readFile(join(root, 'lab/wine/windows-commands.ps1'), 'utf8')}\n${script}`
  await mkdir(wine.place(scratch))
}, 900_000)
afterEach(({ task }) => {
  const what = [task.suite?.name, task.name].filter((name) => name !== undefined && name !== '').join(': ')
  shown.push({ what, well: task.result?.state !== 'fail' })
})
afterAll(async () => {
  try {
    const evidence = {
      date: new Date(),
      wine: wine.version,
      powershell: powershellVersion,
      shown,
      checks: (came?.checks ?? []).map(({ check, error }) => ({
        check,
        ...(error === undefined ? {} : { failed: others[check]?.reason ?? error }),
      })),
      standIns: standInsOf(whole),
      real: Object.keys(commands).filter((name) => !standInsOf(whole).includes(name)),
    }
    await writeFile(join(root, 'docs/evidence/powershell.md'), powershellText(evidence))
  } finally {
    await wine?.[Symbol.asyncDispose]()
  }
}, 120_000)

/** Those of the script's commands that the stand-ins are for. */
function standInsOf(text: string): string[] {
  const functions = functionsIn(text)
  return Object.keys(commands).filter((name) => functions.includes(name) || name === 'HNSCall')
}

function functionsIn(text: string): string[] {
  return [...text.matchAll(/^function ([\w.-]+)/gm)].map(([, name = '']) => name)
}

/** What PowerShell's own parser says of a script. */
async function syntaxOf(text: string): Promise<{ errors: string[]; newer: string[] }> {
  const path = String.raw`C:\script.ps1`
  await writeFile(wine.place(path), text)
  const reader = await readFile(join(root, 'lab/wine/read-syntax.ps1'), 'utf8')
  await writeFile(wine.place(String.raw`C:\read-syntax.ps1`), reader)
  const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-File', String.raw`C:\read-syntax.ps1`, path]
  const { stdout } = await run(powershellInWine(wine, program, args), { input: '' })
  const schema = z.strictObject({ errors: z.array(z.string()), newer: z.array(z.string()) })
  return schema.parse(JSON.parse(stdout.slice(stdout.indexOf('{'))))
}

describe('the script', () => {
  test('is read by the parser of PowerShell without errors, and has nothing in it that is newer than 5.1', async () => {
    expect(await syntaxOf(script)).toEqual({ errors: [], newer: [] })
  })

  test('would not pass with an error in it, or with any of what is newer', async () => {
    expect((await syntaxOf('if ($true) {')).errors).toHaveLength(1)
    const newer = [
      '$a ? 1 : 2',
      '$a ?? 1',
      '$a ??= 1',
      'Get-Item a && Get-Item b',
      '${a}?.b',
      '${a}?[0]',
      'Get-Item a &',
    ]
    expect(new Set((await syntaxOf(newer.join('\n'))).newer).size).toBe(newer.length)
  })
})

describe('PowerShell alone', () => {
  test('takes the script and answers, and says of what it does not know that it does not', async () => {
    const conversation = await converse(argv, script)
    const ask = async (operation: string, input: unknown = {}): Promise<unknown> =>
      conversation.ask({ id: 7, operation, input }, 30_000)
    expect(await ask('no.such')).toEqual({
      id: 7,
      ok: false,
      error: expect.objectContaining({ message: 'there is no operation no.such' }),
    })
    for (const text of hostile) {
      expect(await ask(text)).toMatchObject({ error: { message: `there is no operation ${text}` } })
    }
    expect(await ask('environment.get', { name: 'ComSpec' })).toEqual({
      id: 7,
      ok: true,
      output: [{ Value: String.raw`C:\windows\system32\cmd.exe` }],
    })
    await conversation.end()
  })

  test('takes whatever a file says as data, be it large', async () => {
    await using lent = powershellHost({ script, argv })
    const { files } = lent.host
    const path = `${scratch}\\large.txt`
    const lines = `${hostile.join('\r\n')}\n'@\n"@\n= == \u0000 \u001B[0m \uFFFF ]]>\n`
    for (const text of [lines, 'x'.repeat(1_000_000), lines.repeat(1000)]) {
      await files.write({ path, text })
      expect(await files.read({ path })).toBe(text)
      expect(await readFile(wine.place(path), 'utf8')).toBe(text)
    }
    await files.remove({ path })
    expect(lent.processes).toBe(1)
  })

  test('keeps the contract of all hosts about files and variables', async () => {
    await using lent = powershellHost({ script, argv })
    const about = /^(?:a variable is|a file is)/
    const checks = hostContract.filter(({ name }) => about.test(name))
    expect(checks).toHaveLength(3)
    for (const { check } of checks) await check(lent.host, scratch)
    expect(lent.processes).toBe(1)
  })

  test('is replaced when it ends, hangs or says something else; only what looks is asked again', async () => {
    const faults = [
      `$operations['system.describe'] = { [Console]::Out.WriteLine('Hello') }`,
      `$operations['ports.list'] = { [Environment]::Exit(3) }`,
      `$operations['files.remove'] = { [Environment]::Exit(3) }`,
      `$operations['networks.list'] = { Start-Sleep -Seconds 600 }`,
    ]
    await using lent = powershellHost({ script: [script, ...faults].join('\n'), argv, within: 10_000 })
    const { environment, files, networks, ports, system } = lent.host
    const well = async (): Promise<unknown> => environment.get({ name: 'ComSpec' })
    const processes: number[] = []
    for (const [ask, said] of [
      [async () => system.describe({}), 'something that is no answer: Hello'],
      [async () => ports.list({}), 'ports.list was not answered: PowerShell ended by itself'],
      [
        async () => files.remove({ path: scratch }),
        'files.remove was not answered: PowerShell ended by itself',
      ],
      [async () => networks.list({}), 'PowerShell has said nothing for 10 s'],
    ] as const) {
      expect(await well()).toMatch(/cmd\.exe$/)
      const before = lent.processes
      await expect(ask()).rejects.toThrow(said)
      processes.push(lent.processes - before)
    }
    // Of what changes the host nobody knows whether it was done.
    expect(processes).toEqual([1, 1, 0, 1])
    expect(await well()).toMatch(/cmd\.exe$/)
  })
})

describe('with stand-ins', () => {
  let lent: PowerShellHost
  beforeAll(async () => {
    lent = powershellHost({ script: whole, argv })
    const { services } = lent.host
    // HNS as a service that runs: a program of Wine that needs nothing.
    await services.put(service('hns'))
    await services.start({ name: 'hns' })
    await vi.waitUntil(async () => (await services.list({ names: ['hns'] }))[0]?.state === 'Running', {
      timeout: 30_000,
      interval: 200,
    })
    came = await firstReport(lent.host, scratch, { changes: true, now: () => performance.now() })
  }, 300_000)
  afterAll(async () => lent?.[Symbol.asyncDispose]())

  test('they are for commands that the script runs, and for nothing else', () => {
    const own = functionsIn(script)
    const known = functionsIn(whole).filter((name) => !own.includes(name) && !name.includes('-StandIn'))
    expect(known.filter((name) => !(name in commands))).toEqual([])
  })

  test('every look is answered as its schema has it', () => {
    expect(came?.looks.filter(({ error }) => error !== undefined)).toEqual([])
    const described = { build: expect.any(Number), containersFeature: true, administrator: true }
    expect(came?.looks[0]).toMatchObject({ operation: 'system.describe', output: described })
  })

  test('every check of the contract of all hosts passes, but for those that cannot', () => {
    const wrong = came?.checks.filter(({ error }) => error !== undefined)
    expect(wrong?.map(({ check, error }) => [check, error])).toEqual(
      Object.entries(others).map(([check, { error }]) => [check, expect.stringMatching(error)]),
    )
  })

  test('a network is made as it is wished, and it, an endpoint and a list of policies go', async () => {
    const { networks, endpoints, policies } = lent.host
    const wish = {
      name: 'hyperkube-switch',
      adapter: `Ethernet ${hostile[0]}`,
      subnet: '192.168.255.0/30',
      gateway: '192.168.255.1',
      vsid: 9999,
    }
    await networks.create(wish)
    const made = (await networks.list({})).find(({ name }) => name === wish.name)
    expect(made).toMatchObject({ type: 'overlay', adapter: wish.adapter, subnets: [wish.subnet] })
    await networks.remove({ id: made?.id ?? '' })
    expect((await networks.list({})).map(({ name }) => name)).toEqual(['External', 'nat'])
    for (const part of [policies, endpoints]) {
      const [first] = await part.list({})
      await part.remove({ id: first?.id ?? '' })
      expect(await part.list({})).toEqual([])
    }
  })

  test('a service starts and stops, and its process is ended by what it is', async () => {
    const { services, processes } = lent.host
    const below = `${scratch}\\bin`
    await mkdir(wine.place(below))
    await copyFile(wine.place(spooler), wine.place(`${below}\\runs.exe`))
    await services.put(service('hk-runs', `${below}\\runs.exe`))
    const state = async (): Promise<unknown> => (await services.list({ names: ['hk-runs'] }))[0]?.state
    await services.start({ name: 'hk-runs' })
    await services.start({ name: 'hk-runs' })
    await expect.poll(state, { timeout: 30_000 }).toBe('Running')
    const [seen] = await processes.list({ below })
    expect(seen).toMatchObject({ program: `${below}\\runs.exe` })
    await services.stop({ name: 'hk-runs' })
    await services.stop({ name: 'hk-runs' })
    await expect.poll(state, { timeout: 30_000 }).toBe('Stopped')
    await services.start({ name: 'hk-runs' })
    await expect.poll(async () => (await processes.list({ below })).length, { timeout: 30_000 }).toBe(1)
    const [next] = await processes.list({ below })
    if (next === undefined) throw new Error('there is no process')
    await processes.end({ id: next.id, program: next.program, startedAt: next.startedAt })
    await expect.poll(async () => processes.list({ below }), { timeout: 30_000 }).toEqual([])
    await services.remove({ name: 'hk-runs' })
  })

  test('they refuse what is not documented, and ask back where Windows would', async () => {
    const wrong = whole
      .replace('-NextHop $wish.nextHop', '-Gateway $wish.nextHop')
      .replace('-InputObject $same -Confirm:$false', '-InputObject $same')
      .replace('ServiceDependencies = [string[]]', 'Dependencies = [string[]]')
    await using other = powershellHost({ script: wrong, argv })
    const { routes, services } = other.host
    const [out] = await routes.list({ destinations: ['0.0.0.0/0'] })
    const route = {
      destination: '0.0.0.0/0',
      nextHop: out?.nextHop ?? '',
      interfaceIndex: out?.interfaceIndex ?? 0,
    }
    await expect(routes.add({ ...route, destination: '192.0.2.0/24', metric: 1 })).rejects.toThrow(
      "'Gateway'",
    )
    await expect(routes.remove(route)).rejects.toThrow('NonInteractive')
    await expect(services.put(service('hns'))).rejects.toThrow('Invalid parameter Dependencies')
  })

  test('nothing of this took another process', () => {
    expect(lent.processes).toBe(1)
  })
})

function service(name: string, path: string = spooler) {
  return {
    name,
    description: `of no use: ${name}`,
    commandLine: path,
    dependsOn: [],
    environment: [],
    restartAfter: [1000, 2000, 3000] as [number, number, number],
  }
}
