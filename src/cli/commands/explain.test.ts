import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { errorCodes } from '../../error-codes/error-codes.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'

test('a code is explained as in the reference, without files and hosts', async () => {
  const { code, stdout, stderr } = await runHyperkube('explain SPEC_NOT_WRITTEN')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { summary, meaning, remedy } = errorCodes['SPEC_NOT_WRITTEN'] ?? { summary: '', remedy: '' }
  expect(stdout).toBe(`SPEC_NOT_WRITTEN: ${summary}\n  ${meaning}\n  → ${remedy}\n`)
})

test('a code without a meaning has only its cause and the next step', async () => {
  const { stdout } = await runHyperkube('explain SPEC_NOT_VALID')
  expect(stdout).toBe(
    'SPEC_NOT_VALID: cluster.yml has errors, and the command needs a valid one.\n' +
      '  → `hyperkube validate` lists all errors at once, each with its line.\n',
  )
})

test('json and yaml have the same document', async () => {
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ErrorCode',
    code: 'SPEC_NOT_VALID',
    area: 'cluster.yml',
    summary: 'cluster.yml has errors, and the command needs a valid one.',
    remedy: '`hyperkube validate` lists all errors at once, each with its line.',
  }
  expect(JSON.parse((await runHyperkube('explain SPEC_NOT_VALID -o json')).stdout)).toEqual(document)
  expect(parse((await runHyperkube('explain SPEC_NOT_VALID -o yaml')).stdout)).toEqual(document)
})

test('links name a file of the documentation', async () => {
  const { stdout } = await runHyperkube('explain ADOPT_MEMBER_LOST')
  expect(stdout).toContain('A control plane is lost (docs/how-to/adopt.md#a-control-plane-is-lost)')
  for (const code of Object.keys(errorCodes))
    expect((await runHyperkube(`explain ${code}`)).stdout, code).not.toMatch(/\]\(/)
})

test.each(['spec_not_valid', 'SPEC_NOT_VALID:'])('%s is accepted', async (word) => {
  const { code, stdout } = await runHyperkube(`explain ${word}`)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^SPEC_NOT_VALID: /)
})

test.each([
  ['SPEC_NOT_VALIT', 'did you mean hyperkube explain SPEC_NOT_VALID?'],
  ['HOST_PORT_TAKE', 'did you mean hyperkube explain HOST_PORT_TAKEN?'],
  ['LOAD_BALANCER', 'codes with LOAD_BALANCER: SPEC_LOAD_BALANCER_EMPTY, SPEC_LOAD_BALANCER_FAMILY and'],
  ['constructor', 'copy the code from the message; docs/reference/errors.md lists all codes'],
])('an unknown code %s is refused with a suggestion', async (word, suggestion) => {
  const { code, stdout, stderr } = await runHyperkube(`explain ${word}`)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(`USAGE: there is no code ${word}\n  → ${suggestion}`)
})

test('without a code, the command is not understood', async () => {
  expect(await runHyperkube('explain')).toMatchObject({ code: 2, stdout: '' })
})
