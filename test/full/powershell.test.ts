import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { installWine } from '../../lab/prerequisites.ts'
import { terminalReport } from '../../lab/report.ts'
import { type FirstReport, runFirstReport } from '../../lab/windows/simulator/first-report.ts'
import { hostContract, hostileValues } from '../../lab/windows/simulator/host-contract.ts'
import { powershellCommands } from '../../lab/windows/simulator/powershell-commands.ts'
import {
  buildPowershellCommand,
  fetchWindowsPowershell,
  powershellVersion,
} from '../../lab/wine/powershell.ts'
import { createWine, type Wine } from '../../lab/wine/wine.ts'
import {
  powershellHost,
  type PowerShellHost,
} from '../../src/agent/host/windows/powershell/powershell-host.ts'
import {
  powershellArguments,
  readHostScript,
  startPowerShell,
} from '../../src/agent/host/windows/powershell/session.ts'
import { type Argv, runProgram } from '../../src/kit/command.ts'
import { formatPowershellEvidence } from '../support/powershell-evidence.ts'
import type { CheckResult } from '../support/wine-evidence.ts'

const root = join(import.meta.dirname, '../..')
const scratch = String.raw`C:\hyperkube-try`
const spooler = String.raw`C:\windows\system32\spoolsv.exe`

/**
 * Checks of lab/windows/simulator/host-contract.ts that must fail in Wine, because its PowerShell differs
 * from that of Windows. Each check has its expected error.
 */
const expectedFailures: Readonly<Record<string, { readonly reason: string; readonly error: RegExp }>> = {
  'the host reports its build, PowerShell version and administrator permissions': {
    reason: `it wants PowerShell 5.1, and this is ${powershellVersion}`,
    error: /\/\^5\\\.1\\\.\//,
  },
}

let wine: Wine
let program: string
let argv: Argv
let script: string
/** host.ps1, preceded by stand-ins for the Windows commands that Wine does not have. */
let scriptWithStandIns: string
/** Result of the checks in host-contract.ts, run with `scriptWithStandIns`. */
let contractReport: FirstReport | undefined
const shown: CheckResult[] = []

beforeAll(async () => {
  const report = terminalReport()
  await installWine(report)
  program = await fetchWindowsPowershell(cacheDirectory(), report)
  wine = await createWine()
  argv = buildPowershellCommand(wine, program, powershellArguments)
  script = await readHostScript()
  scriptWithStandIns = `${await readFile(join(root, 'lab/wine/windows-commands.ps1'), 'utf8')}\n${script}`
  await mkdir(wine.toLocalPath(scratch))
}, 900_000)
afterEach(({ task }) => {
  const title = [task.suite?.name, task.name].filter((name) => name !== undefined && name !== '').join(': ')
  shown.push({ what: title, passed: task.result?.state !== 'fail' })
})
afterAll(async () => {
  try {
    const evidence = {
      date: new Date(),
      wine: wine.version,
      powershell: powershellVersion,
      shown,
      checks: (contractReport?.checks ?? []).map(({ check, error }) => ({
        check,
        ...(error === undefined ? {} : { failed: expectedFailures[check]?.reason ?? error }),
      })),
      standIns: listStandIns(scriptWithStandIns),
      real: Object.keys(powershellCommands).filter(
        (name) => !listStandIns(scriptWithStandIns).includes(name),
      ),
    }
    await writeFile(join(root, 'docs/evidence/powershell.md'), formatPowershellEvidence(evidence))
  } finally {
    await wine?.[Symbol.asyncDispose]()
  }
}, 120_000)

/** Lists the Windows commands that have a stand-in in this script. */
function listStandIns(text: string): string[] {
  const functions = listFunctions(text)
  return Object.keys(powershellCommands).filter((name) => functions.includes(name) || name === 'HNSCall')
}

function listFunctions(text: string): string[] {
  return [...text.matchAll(/^function ([\w.-]+)/gm)].map(([, name = '']) => name)
}

/** Parses a script with PowerShell. Returns syntax errors, and syntax that is newer than PowerShell 5.1. */
async function parseSyntax(text: string): Promise<{ errors: string[]; newer: string[] }> {
  const path = String.raw`C:\script.ps1`
  await writeFile(wine.toLocalPath(path), text)
  const reader = await readFile(join(root, 'lab/wine/read-syntax.ps1'), 'utf8')
  await writeFile(wine.toLocalPath(String.raw`C:\read-syntax.ps1`), reader)
  const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-File', String.raw`C:\read-syntax.ps1`, path]
  const { stdout } = await runProgram(buildPowershellCommand(wine, program, args), { input: '' })
  const schema = z.strictObject({ errors: z.array(z.string()), newer: z.array(z.string()) })
  return schema.parse(JSON.parse(stdout.slice(stdout.indexOf('{'))))
}

describe('the script', () => {
  test('has no syntax errors, and no syntax newer than PowerShell 5.1', async () => {
    expect(await parseSyntax(script)).toEqual({ errors: [], newer: [] })
  })

  test('is checked by a parser that finds errors and newer syntax', async () => {
    expect((await parseSyntax('if ($true) {')).errors).toHaveLength(1)
    const newer = [
      '$a ? 1 : 2',
      '$a ?? 1',
      '$a ??= 1',
      'Get-Item a && Get-Item b',
      '${a}?.b',
      '${a}?[0]',
      'Get-Item a &',
    ]
    expect(new Set((await parseSyntax(newer.join('\n'))).newer).size).toBe(newer.length)
  })
})

describe('PowerShell without stand-ins', () => {
  test('runs the script, responds to requests, and reports unknown operations', async () => {
    const session = await startPowerShell(argv, script)
    const request = async (operation: string, input: unknown = {}): Promise<unknown> =>
      session.send({ id: 7, operation, input }, 30_000)
    expect(await request('no.such')).toEqual({
      id: 7,
      ok: false,
      error: expect.objectContaining({ message: 'there is no operation no.such' }),
    })
    for (const text of hostileValues) {
      expect(await request(text)).toMatchObject({ error: { message: `there is no operation ${text}` } })
    }
    expect(await request('environment.get', { name: 'ComSpec' })).toEqual({
      id: 7,
      ok: true,
      output: [{ Value: String.raw`C:\windows\system32\cmd.exe` }],
    })
    await session.end()
  })

  test('treats any file content as data, also if it is large', async () => {
    await using powershell = powershellHost({ script, argv })
    const { files } = powershell.host
    const path = `${scratch}\\large.txt`
    const lines = `${hostileValues.join('\r\n')}\n'@\n"@\n= == \u0000 \u001B[0m \uFFFF ]]>\n`
    for (const text of [lines, 'x'.repeat(1_000_000), lines.repeat(1000)]) {
      await files.write({ path, text })
      expect(await files.read({ path })).toBe(text)
      expect(await readFile(wine.toLocalPath(path), 'utf8')).toBe(text)
    }
    await files.remove({ path })
    expect(powershell.processes).toBe(1)
  })

  test('passes the host contract for files and variables', async () => {
    await using powershell = powershellHost({ script, argv })
    const namePattern = /^(?:a variable is|a file is)/
    const checks = hostContract.filter(({ name }) => namePattern.test(name))
    expect(checks).toHaveLength(3)
    for (const { check } of checks) await check(powershell.host, scratch)
    expect(powershell.processes).toBe(1)
  })

  test('is restarted after an exit, a hang or invalid output, and repeats only reads', async () => {
    const faults = [
      `$operations['system.describe'] = { [Console]::Out.WriteLine('Hello') }`,
      `$operations['ports.list'] = { [Environment]::Exit(3) }`,
      `$operations['files.remove'] = { [Environment]::Exit(3) }`,
      `$operations['networks.list'] = { Start-Sleep -Seconds 600 }`,
    ]
    await using powershell = powershellHost({
      script: [script, ...faults].join('\n'),
      argv,
      timeoutMs: 10_000,
    })
    const { environment, files, networks, ports, system } = powershell.host
    const readComSpec = async (): Promise<unknown> => environment.get({ name: 'ComSpec' })
    const processes: number[] = []
    for (const [request, expectedMessage] of [
      [async () => system.describe({}), 'something that is no answer: Hello'],
      [async () => ports.list({}), 'ports.list failed: PowerShell ended by itself'],
      [async () => files.remove({ path: scratch }), 'files.remove failed: PowerShell ended by itself'],
      [async () => networks.list({}), 'PowerShell did not respond for 10 s'],
    ] as const) {
      expect(await readComSpec()).toMatch(/cmd\.exe$/)
      const before = powershell.processes
      await expect(request()).rejects.toThrow(expectedMessage)
      processes.push(powershell.processes - before)
    }
    // The client does not repeat an operation that changes the host, because the first attempt may have
    // succeeded.
    expect(processes).toEqual([1, 1, 0, 1])
    expect(await readComSpec()).toMatch(/cmd\.exe$/)
  })
})

describe('with stand-ins', () => {
  let powershell: PowerShellHost
  beforeAll(async () => {
    powershell = powershellHost({ script: scriptWithStandIns, argv })
    const { services } = powershell.host
    // Creates a service named hns. Its program is a service of Wine that needs no other service.
    await services.put(service('hns'))
    await services.start({ name: 'hns' })
    await vi.waitUntil(async () => (await services.list({ names: ['hns'] }))[0]?.state === 'Running', {
      timeout: 30_000,
      interval: 200,
    })
    contractReport = await runFirstReport(powershell.host, scratch, {
      changes: true,
      now: () => performance.now(),
    })
  }, 300_000)
  afterAll(async () => powershell?.[Symbol.asyncDispose]())

  test('stand-ins exist only for commands that the script runs', () => {
    const own = listFunctions(script)
    const known = listFunctions(scriptWithStandIns).filter(
      (name) => !own.includes(name) && !name.includes('-StandIn'),
    )
    expect(known.filter((name) => !(name in powershellCommands))).toEqual([])
  })

  test('every response to a read matches its schema', () => {
    expect(contractReport?.reads.filter(({ error }) => error !== undefined)).toEqual([])
    const described = { build: expect.any(Number), containersFeature: true, administrator: true }
    expect(contractReport?.reads[0]).toMatchObject({ operation: 'system.describe', output: described })
  })

  test('every check of the host contract passes, except the expected failures', () => {
    const wrong = contractReport?.checks.filter(({ error }) => error !== undefined)
    expect(wrong?.map(({ check, error }) => [check, error])).toEqual(
      Object.entries(expectedFailures).map(([check, { error }]) => [check, expect.stringMatching(error)]),
    )
  })

  test('a network is created as specified, and networks, endpoints and policies are removed', async () => {
    const { networks, endpoints, policies } = powershell.host
    const spec = {
      name: 'hyperkube-switch',
      adapter: `Ethernet ${hostileValues[0]}`,
      subnet: '192.168.255.0/30',
      gateway: '192.168.255.1',
      vsid: 9999,
    }
    await networks.create(spec)
    const created = (await networks.list({})).find(({ name }) => name === spec.name)
    expect(created).toMatchObject({ type: 'overlay', adapter: spec.adapter, subnets: [spec.subnet] })
    await networks.remove({ id: created?.id ?? '' })
    expect((await networks.list({})).map(({ name }) => name)).toEqual(['External', 'nat'])
    for (const part of [policies, endpoints]) {
      const [first] = await part.list({})
      await part.remove({ id: first?.id ?? '' })
      expect(await part.list({})).toEqual([])
    }
  })

  test('a service starts and stops, and its process is ended by id, program and start time', async () => {
    const { services, processes } = powershell.host
    const below = `${scratch}\\bin`
    await mkdir(wine.toLocalPath(below))
    await copyFile(wine.toLocalPath(spooler), wine.toLocalPath(`${below}\\runs.exe`))
    await services.put(service('hk-runs', `${below}\\runs.exe`))
    const state = async (): Promise<unknown> => (await services.list({ names: ['hk-runs'] }))[0]?.state
    await services.start({ name: 'hk-runs' })
    await services.start({ name: 'hk-runs' })
    await expect.poll(state, { timeout: 30_000 }).toBe('Running')
    const [running] = await processes.list({ below })
    expect(running).toMatchObject({ program: `${below}\\runs.exe` })
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

  test('stand-ins refuse undocumented parameters, and prompt like Windows', async () => {
    const wrong = scriptWithStandIns
      .replace('-NextHop $options.nextHop', '-Gateway $options.nextHop')
      .replace('-InputObject $same -Confirm:$false', '-InputObject $same')
      .replace('ServiceDependencies = [string[]]', 'Dependencies = [string[]]')
    await using other = powershellHost({ script: wrong, argv })
    const { routes, services } = other.host
    const [defaultRoute] = await routes.list({ destinations: ['0.0.0.0/0'] })
    const route = {
      destination: '0.0.0.0/0',
      nextHop: defaultRoute?.nextHop ?? '',
      interfaceIndex: defaultRoute?.interfaceIndex ?? 0,
    }
    await expect(routes.add({ ...route, destination: '192.0.2.0/24', metric: 1 })).rejects.toThrow(
      "'Gateway'",
    )
    await expect(routes.remove(route)).rejects.toThrow('NonInteractive')
    await expect(services.put(service('hns'))).rejects.toThrow('Invalid parameter Dependencies')
  })

  test('one PowerShell process serves all requests', () => {
    expect(powershell.processes).toBe(1)
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
