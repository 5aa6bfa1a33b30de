import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasCode } from '../../../kit/errors.ts'
import { powershellArgv, powershellHost, type PowerShellHost } from './powershell-host.ts'
import { hostScript } from './script.ts'

const script = await hostScript()

/** A host whose PowerShell goes wrong over its nth request. */
function hostWith(trouble: string, at = 1): PowerShellHost {
  const fake = join(import.meta.dirname, '../../../../lab/windows/simulator/fake-powershell.ts')
  // Long enough for a busy machine, unless nothing is ever answered.
  const within = trouble !== 'hang' ? 30_000 : at === 1 ? 50 : 1000
  return powershellHost({ script, argv: [process.execPath, fake, trouble, String(at)], within })
}

const variable = { name: 'HYPERKUBE_TEST', value: 'x' }

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  const codes = ['POWERSHELL_SILENT', 'POWERSHELL_RUBBISH', 'POWERSHELL_ENDED', 'WINDOWS_OPERATION_FAILED']
  return [...codes, 'WINDOWS_ANSWER_UNEXPECTED'].find((code) => hasCode(error, code)) ?? String(error)
}

test('one process does for any number of operations, in turns', async () => {
  await using lent = hostWith('well')
  const { environment, system } = lent.host
  await environment.set(variable)
  const answers = await Promise.all([
    system.describe({}),
    environment.get({ name: variable.name }),
    system.describe({}),
  ])
  expect(answers[1]).toBe('x')
  expect(answers[0]).toEqual({ ...answers[2] })
  expect(lent.processes).toBe(1)
})

test.each([
  ['hang', 'POWERSHELL_SILENT'],
  ['die', 'POWERSHELL_ENDED'],
  ['complain', 'POWERSHELL_RUBBISH'],
  ['other', 'POWERSHELL_RUBBISH'],
  ['half', 'POWERSHELL_RUBBISH'],
])(
  'a process that does %s over a change is ended, the change is not repeated, and the next one is new',
  async (trouble, code) => {
    await using lent = hostWith(trouble)
    const { environment } = lent.host
    expect(await codeOf(environment.set(variable))).toBe(code)
    expect(lent.processes).toBe(1)
    // The second process goes wrong over its first request, too: what only looks is then asked of a third.
    expect(await codeOf(environment.get({ name: variable.name }))).toBe(code)
    expect(lent.processes).toBe(3)
  },
)

test.each(['hang', 'die', 'complain'])(
  'what only looks is asked again when a process does %s',
  async (trouble) => {
    await using lent = hostWith(trouble, 2)
    const { environment } = lent.host
    expect(await environment.get({ name: 'CorpSite' })).toBe('north')
    expect(await environment.get({ name: 'CorpSite' })).toBe('north')
    expect(lent.processes).toBe(2)
  },
)

test('a program that ends well and says nothing is no PowerShell', async () => {
  await using lent = hostWith('stub')
  expect(await codeOf(lent.host.system.describe({}))).toBe('POWERSHELL_ENDED')
  await expect(lent.host.system.describe({})).rejects.toThrow('system.describe was not answered')
  await expect(lent.host.environment.set({ name: 'A', value: null })).rejects.toThrow('environment.set')
})

test('a program that is not there is told of', async () => {
  await using lent = powershellHost({ script, argv: ['/nonexistent/powershell.exe'] })
  await expect(lent.host.system.describe({})).rejects.toThrow('could not be run')
})

test('an answer of another shape than documented is refused', async () => {
  await using lent = hostWith('shape')
  expect(await codeOf(lent.host.services.list({ names: ['hns'] }))).toBe('WINDOWS_ANSWER_UNEXPECTED')
})

test('what Windows refuses is told in its own words, and the process lives on', async () => {
  await using lent = hostWith('well')
  const { services, system } = lent.host
  await expect(services.start({ name: 'nobody' })).rejects.toThrow(
    "services.start failed: Cannot find any service with service name 'nobody'. (System.Exception)",
  )
  await system.describe({})
  expect(lent.processes).toBe(1)
})

test('a name that could mean something to a program is not sent at all', async () => {
  await using lent = hostWith('well')
  const { services, networks, files } = lent.host
  await expect(services.stop({ name: 'a & b' })).rejects.toThrow('name')
  await expect(networks.remove({ id: '../endpoints/x' })).rejects.toThrow('id')
  await expect(files.remove({ path: String.raw`..\x` })).rejects.toThrow('path')
  expect(lent.processes).toBe(0)
})

test('who stops waiting ends the process, and is told his own reason', async () => {
  await using lent = hostWith('hang', 2)
  await lent.host.system.describe({})
  const reason = new Error('enough')
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), 50)
  await expect(lent.host.system.describe({}, controller.signal)).rejects.toBe(reason)
  await lent.host.system.describe({})
  expect(lent.processes).toBe(2)
})

test('a host whose work is over answers nobody', async () => {
  const reason = new Error('the agent stops')
  const signal = AbortSignal.abort(reason)
  await using lent = powershellHost({ script, argv: [process.execPath, '-e', ''], signal })
  await expect(lent.host.system.describe({})).rejects.toBe(reason)
})

test('PowerShell is the one of Windows itself, whatever PATH says, and reads lines from its input', () => {
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
