import { array, assert, constantFrom, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { epoch } from '../../../../lab/windows/simulator/instant.ts'
import { writeMachineFile } from '../../../../lab/windows/simulator/machine.ts'
import { newMachine } from '../../../../lab/windows/simulator/new-machine.ts'
import { failService } from '../../../../lab/windows/simulator/service-manager.ts'
import { simulatedHost } from '../../../../lab/windows/simulator/simulated-host.ts'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import { createServiceControlManager, formatWindowsCommandLine } from './service-control-manager.ts'

const base = String.raw`C:\hyperkube`

async function services() {
  const machine = newMachine(new Map())
  const { host: operations } = simulatedHost(machine)
  const clock = {
    now: () => new Date(epoch + machine.time),
    pause: async (milliseconds: number) => advance(machine, milliseconds),
  }
  const files = { read: async () => Buffer.from('one\r\ntwo\r\nthree\r\n') }
  const put = async (name: string, dependsOn: string[] = []): Promise<void> => {
    writeMachineFile(machine, `${base}\\${name}.exe`, name)
    await operations.services.put({
      name,
      description: name,
      commandLine: `"${base}\\${name}.exe"`,
      dependsOn,
      environment: [],
      restartAfter: [2000, 5000, 15_000],
    })
  }
  await put('first')
  await put('second', ['first'])
  const scm = createServiceControlManager({
    operations,
    layout: { base, logs: `${base}\\logs` },
    files,
    clock,
  })
  return { machine, scm }
}

test('a service state is reported in systemd terms', async () => {
  const { machine, scm } = await services()
  expect(await scm.show('missing')).toMatchObject({ load: 'not-found', active: 'inactive', enabled: false })
  expect(await scm.show('first')).toMatchObject({ load: 'loaded', active: 'inactive', enabled: true, pid: 0 })
  await scm.start('first')
  expect(await scm.show('first')).toMatchObject({ active: 'activating' })
  advance(machine, 2000)
  const { active, pid, invocation } = await scm.show('first')
  expect({ active, same: invocation === String(pid) }).toEqual({ active: 'active', same: true })
  expect(await scm.lines('first', 2)).toEqual(['two', 'three'])
})

test('a service that exits counts as restarting, and a stopped service as inactive', async () => {
  const { machine, scm } = await services()
  await scm.start('first')
  advance(machine, 2000)
  await scm.show('first')
  const service = machine.services.get('first')
  if (service !== undefined) failService(machine, service, 1)
  expect(await scm.show('first')).toMatchObject({ active: 'activating', sub: 'auto-restart', restarts: 0 })
  advance(machine, 5000)
  expect(await scm.show('first')).toMatchObject({ active: 'active', restarts: 1 })
  await scm.stop('first')
  advance(machine, 5000)
  expect(await scm.show('first')).toMatchObject({ active: 'inactive', sub: 'dead' })
  await scm.stop('missing')
})

test('a restart starts a new process and also restarts dependents', async () => {
  const { machine, scm } = await services()
  await scm.start('second')
  advance(machine, 3000)
  const [first, second] = await scm.showAll(['first', 'second'])
  await scm.restart('first')
  advance(machine, 3000)
  const [firstNow, secondNow] = await scm.showAll(['first', 'second'])
  expect([firstNow?.active, secondNow?.active]).toEqual(['active', 'active'])
  expect(firstNow?.invocation).not.toBe(first?.invocation)
  expect(secondNow?.invocation).not.toBe(second?.invocation)
  expect([firstNow?.restarts, secondNow?.restarts]).toEqual([0, 0])
})

test('a service that does not stop is killed by its observed process', async () => {
  const { machine, scm } = await services()
  await scm.start('first')
  advance(machine, 2000)
  Object.assign(machine.services.get('first') ?? {}, { deaf: true })
  const before = machine.time
  await scm.restart('first')
  expect(machine.time - before).toBeGreaterThanOrEqual(60_000)
  advance(machine, 2000)
  expect(await scm.show('first')).toMatchObject({ active: 'active' })
})

/** Parses a command line by the documented rules of CommandLineToArgvW. */
function parseCommandLine(line: string): string[] {
  const end = line.indexOf('"', 1)
  const args = [line.slice(1, end)]
  let at = end + 1
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t') at++
    if (at >= line.length) return args
    let [argument, inQuotes] = ['', false]
    for (; at < line.length; at++) {
      let slashes = 0
      while (line[at] === '\\') [slashes, at] = [slashes + 1, at + 1]
      if (line[at] === '"') {
        argument += '\\'.repeat(Math.floor(slashes / 2))
        if (slashes % 2 === 1) argument += '"'
        else inQuotes = !inQuotes
        continue
      }
      argument += '\\'.repeat(slashes)
      if (at >= line.length) break
      if (!inQuotes && (line[at] === ' ' || line[at] === '\t')) break
      argument += line[at]
    }
    args.push(argument)
  }
}

const examples = [
  ['a b', 'c:\\ends in\\', '"', '\\"', '', '\\\\', `'; Stop-Computer; '`, '$(whoami)', '%PATH%', '`n'],
  ['a\\\\\\"b', 'tab\there', '\\\\server\\share\\'],
]

test('a program gets any arguments unchanged', () => {
  const argument = string({
    unit: constantFrom('a', ' ', '"', '\\', "'", '$', '`', '%', ';', '\t', 'é'),
    maxLength: 12,
  })
  assert(
    property(array(argument, { maxLength: 6 }), (args) => {
      const program = String.raw`C:\Program Files\hyper kube\kubelet.exe`
      expect(parseCommandLine(formatWindowsCommandLine(program, args))).toEqual([program, ...args])
    }),
    { examples: examples.map((args) => [args]) },
  )
})

test('arguments without special characters are not quoted', () => {
  expect(formatWindowsCommandLine(String.raw`C:\k\kubelet.exe`, ['--v=2', '--node-ip=10.0.0.1'])).toBe(
    String.raw`"C:\k\kubelet.exe" --v=2 --node-ip=10.0.0.1`,
  )
})

test('a program with a quote in its name is refused', () => {
  expect(() => formatWindowsCommandLine('C:\\a"b.exe', [])).toThrow('quote')
})
