import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasCode } from '../../../../kit/errors.ts'
import { powershellArgv, powershellHost, type PowerShellHost } from './powershell-host.ts'
import { readHostScript } from './session.ts'

const script = await readHostScript()

/** Creates a host whose PowerShell fails on request number `at`. */
function hostWith(fault: string, at = 1): PowerShellHost {
  const fake = join(import.meta.dirname, '../../../../../lab/windows/simulator/fake-powershell.ts')
  // The timeout is long enough for a busy machine. It is short only for `hang`, where no response comes.
  const timeoutMs = fault !== 'hang' ? 30_000 : at === 1 ? 50 : 1000
  return powershellHost({ script, argv: [process.execPath, fake, fault, String(at)], timeoutMs })
}

const variable = { name: 'HYPERKUBE_TEST', value: 'x' }

async function readErrorCode(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  const codes = [
    'POWERSHELL_TIMEOUT',
    'POWERSHELL_INVALID_OUTPUT',
    'POWERSHELL_ENDED',
    'WINDOWS_OPERATION_FAILED',
  ]
  return [...codes, 'WINDOWS_UNEXPECTED_OUTPUT'].find((code) => hasCode(error, code)) ?? String(error)
}

test('one process executes any number of operations, one after the other', async () => {
  await using powershell = hostWith('none')
  const { environment, system } = powershell.host
  await environment.set(variable)
  const results = await Promise.all([
    system.describe({}),
    environment.get({ name: variable.name }),
    system.describe({}),
  ])
  expect(results[1]).toBe('x')
  expect(results[0]).toEqual({ ...results[2] })
  expect(powershell.processes).toBe(1)
})

test.each([
  ['hang', 'POWERSHELL_TIMEOUT'],
  ['die', 'POWERSHELL_ENDED'],
  ['complain', 'POWERSHELL_INVALID_OUTPUT'],
  ['other', 'POWERSHELL_INVALID_OUTPUT'],
  ['half', 'POWERSHELL_INVALID_OUTPUT'],
])(
  'a process with the fault %s during a change is replaced, and the change is not repeated',
  async (fault, code) => {
    await using powershell = hostWith(fault)
    const { environment } = powershell.host
    expect(await readErrorCode(environment.set(variable))).toBe(code)
    expect(powershell.processes).toBe(1)
    // The second process also fails on its first request. A read is then repeated with a third process.
    expect(await readErrorCode(environment.get({ name: variable.name }))).toBe(code)
    expect(powershell.processes).toBe(3)
  },
)

test.each(['hang', 'die', 'complain'])(
  'a read is repeated by a new process after the fault %s',
  async (fault) => {
    await using powershell = hostWith(fault, 2)
    const { environment } = powershell.host
    expect(await environment.get({ name: 'CorpSite' })).toBe('north')
    expect(await environment.get({ name: 'CorpSite' })).toBe('north')
    expect(powershell.processes).toBe(2)
  },
)

test('a program that exits with 0 and prints nothing is reported as ended', async () => {
  await using powershell = hostWith('stub')
  expect(await readErrorCode(powershell.host.system.describe({}))).toBe('POWERSHELL_ENDED')
  await expect(powershell.host.system.describe({})).rejects.toThrow(
    'system.describe failed: PowerShell exited',
  )
  await expect(powershell.host.environment.set({ name: 'A', value: null })).rejects.toThrow('environment.set')
})

test('a missing program is reported', async () => {
  await using powershell = powershellHost({ script, argv: ['/nonexistent/powershell.exe'] })
  await expect(powershell.host.system.describe({})).rejects.toThrow('cannot run')
})

test('an output that does not match the schema is refused', async () => {
  await using powershell = hostWith('shape')
  expect(await readErrorCode(powershell.host.services.list({ names: ['hns'] }))).toBe(
    'WINDOWS_UNEXPECTED_OUTPUT',
  )
})

test('an error of Windows is reported unchanged, and the process keeps running', async () => {
  await using powershell = hostWith('none')
  const { services, system } = powershell.host
  await expect(services.start({ name: 'missing' })).rejects.toThrow(
    "services.start failed: Cannot find any service with service name 'missing'. (System.Exception)",
  )
  await system.describe({})
  expect(powershell.processes).toBe(1)
})

test('a name with special characters is refused before a process starts', async () => {
  await using powershell = hostWith('none')
  const { services, networks, files } = powershell.host
  await expect(services.stop({ name: 'a & b' })).rejects.toThrow('name')
  await expect(networks.remove({ id: '../endpoints/x' })).rejects.toThrow('id')
  await expect(files.remove({ path: String.raw`..\x` })).rejects.toThrow('path')
  expect(powershell.processes).toBe(0)
})

test('an abort ends the process and rejects with the abort reason', async () => {
  await using powershell = hostWith('hang', 2)
  await powershell.host.system.describe({})
  const reason = new Error('enough')
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), 50)
  await expect(powershell.host.system.describe({}, controller.signal)).rejects.toBe(reason)
  await powershell.host.system.describe({})
  expect(powershell.processes).toBe(2)
})

test('an aborted host rejects operations', async () => {
  const reason = new Error('the agent stops')
  const signal = AbortSignal.abort(reason)
  await using powershell = powershellHost({ script, argv: [process.execPath, '-e', ''], signal })
  await expect(powershell.host.system.describe({})).rejects.toBe(reason)
})

test('PowerShell is started by its full path and reads commands from its input', () => {
  expect(powershellArgv(String.raw`C:\Windows`)).toEqual([
    String.raw`C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`,
    '-NoLogo',
    '-NoProfile',
    '-NonInteractive',
    '-InputFormat',
    'Text',
    '-OutputFormat',
    'Text',
    '-Command',
    '-',
  ])
})
