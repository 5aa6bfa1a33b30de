import { expect, test } from 'vitest'
import { parseUnitState } from './systemd.ts'

const running = `Type=notify
NRestarts=2
MainPID=1234
Result=success
ExecMainStatus=0
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
InvocationID=4b1c
Job=0
`

test('the state of a running unit is parsed', () => {
  expect(parseUnitState(running)).toEqual({
    load: 'loaded',
    active: 'active',
    sub: 'running',
    result: 'success',
    status: 0,
    restarts: 2,
    pid: 1234,
    invocation: '4b1c',
    busy: false,
    enabled: true,
    needsReload: false,
    type: 'notify',
  })
})

test.each([
  ['Job=', false],
  ['', false],
  ['Job=4711', true],
])('a unit with the job line "%s" is busy: %s', (line, busy) => {
  expect(parseUnitState(running.replace('Job=0', line))).toMatchObject({ busy })
})

test('a unit whose file changed since systemd loaded it needs a reload', () => {
  expect(parseUnitState(`${running}NeedDaemonReload=yes\n`)).toMatchObject({ needsReload: true })
})

test('an unknown unit is inactive and has no process', () => {
  const text = 'LoadState=not-found\nActiveState=inactive\nSubState=dead\nUnitFileState=\n'
  expect(parseUnitState(text)).toMatchObject({
    load: 'not-found',
    active: 'inactive',
    enabled: false,
    pid: 0,
    restarts: 0,
  })
})
