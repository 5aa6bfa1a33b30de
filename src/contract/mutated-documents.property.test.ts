import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, nat, property } from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'
import { documentMutation, mutateDocument } from '../kit/testing/document-mutations.ts'
import { mutationRuns, printMutations } from '../kit/testing/mutations.ts'
import { eventFormat } from './event.ts'
import { factsFormat } from './facts.ts'
import { hostCallFormat, hostCallResponseFormat } from './host-call.ts'
import { hostRequestStateFormat } from './host-resource.ts'
import { ledgerFormat } from './ledger.ts'
import { nodePlanFormat } from './node-plan.ts'
import { requestFormat, responseFormat } from './request.ts'
import { type Format, readVersioned, readVersionedLenient } from './versioned.ts'

function readDocuments(file: string): unknown[] {
  const content: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', file), 'utf8'))
  return Array.isArray(content) ? z.array(z.unknown()).parse(content) : [content]
}

/** Documents that a hostile host or a hostile file can give to a reader. */
const targets: readonly (readonly [file: string, format: Format<unknown>])[] = [
  ['node-plan-worker.v1.json', nodePlanFormat],
  ['node-plan-etcd.v1.json', nodePlanFormat],
  ['agent-requests.v1.json', requestFormat],
  ['agent-responses.v1.json', responseFormat],
  ['events.v1.json', eventFormat],
  ['facts-lab-host.v1.json', factsFormat],
  ['facts-windows-2022.v1.json', factsFormat],
  ['host-calls.v1.json', hostCallFormat],
  ['host-call-responses.v1.json', hostCallResponseFormat],
  ['host-request-state.v1.json', hostRequestStateFormat],
  ['ledger.v1.json', ledgerFormat],
]

test.each(targets)('a mutated %s is read, or refused with a code', { timeout: 120_000 }, (file, format) => {
  const documents = readDocuments(file)
  const outcomes = new Map<string, number>()
  assert(
    property(nat(), documentMutation, (index, mutation) => {
      const document = mutateDocument(documents[index % documents.length], mutation)
      for (const read of [readVersioned, readVersionedLenient]) {
        const outcome = readOutcome(() => read(format, document))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        expect(outcome).toMatch(/^(read|CONTRACT_[A-Z_]+)$/)
      }
      expect({}).not.toHaveProperty('polluted')
    }),
    mutationRuns,
  )
  printMutations(file, outcomes)
  expect(outcomes.size).toBeGreaterThan(1)
})

function readOutcome(read: () => unknown): string {
  try {
    read()
    return 'read'
  } catch (error) {
    return error instanceof HyperkubeError ? error.code : String(error)
  }
}
