import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bareFactsFormat } from './basic-facts.ts'
import { etcdRestoreMemoryFormat } from './etcd-restore-state.ts'
import { eventFormat } from './event.ts'
import { factsFormat } from './facts.ts'
import { formerAgentFormat } from './previous-agent.ts'
import { healMemoryFormat } from './heal-state.ts'
import { hostAnswerFormat, hostCallFormat } from './host-call.ts'
import { journalEntryFormat } from './journal.ts'
import { artifactManifestFormat, ledgerFormat } from './ledger.ts'
import { managerSettingsFormat } from './manager-settings.ts'
import { nodePlanFormat } from './node-plan.ts'
import { proxyConfigurationFormat, proxyMemoryFormat } from './proxy-configuration.ts'
import { hostRequestMemoryFormat } from './host-request-state.ts'
import { requestFormat, responseFormat } from './request.ts'
import { serviceRestartsFormat } from './service-restarts.ts'
import { trialMemoryFormat } from './provisional-state.ts'
import { type Format, readVersioned } from './versioned.ts'
import { windowsNetworkFormat } from './windows-network.ts'
import { workerMemoryFormat } from './worker-state.ts'

/**
 * Documents as every release wrote them, and as every later one must read them. The facts of the first were taken on a
 * host of the lab; those of Windows are written by hand, as no Windows was at hand.
 */
const goldens: readonly (readonly [file: string, format: Format<unknown>])[] = [
  ['facts-lab-host.v1.json', factsFormat],
  ['facts-windows-2022.v1.json', factsFormat],
  ['bare-facts-windows.v1.json', bareFactsFormat],
  ['node-plan-etcd.v1.json', nodePlanFormat],
  ['node-plan-worker.v1.json', nodePlanFormat],
  ['events.v1.json', eventFormat],
  ['ledger.v1.json', ledgerFormat],
  ['etcd-restore-memory.v1.json', etcdRestoreMemoryFormat],
  ['heal-memory.v1.json', healMemoryFormat],
  ['former-agent.v1.json', formerAgentFormat],
  ['host-calls.v1.json', hostCallFormat],
  ['host-answers.v1.json', hostAnswerFormat],
  ['host-request-memory.v1.json', hostRequestMemoryFormat],
  ['journal.v1.json', journalEntryFormat],
  ['manager-settings.v1.json', managerSettingsFormat],
  ['artifact-manifest.v1.json', artifactManifestFormat],
  ['agent-requests.v1.json', requestFormat],
  ['agent-responses.v1.json', responseFormat],
  ['proxy-configuration.v1.json', proxyConfigurationFormat],
  ['proxy-memory.v1.json', proxyMemoryFormat],
  ['service-restarts.v1.json', serviceRestartsFormat],
  ['trial-memory.v1.json', trialMemoryFormat],
  ['windows-network.v1.json', windowsNetworkFormat],
  ['worker-memory.v1.json', workerMemoryFormat],
]

describe.each(goldens)('%s', (file, format) => {
  const content: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', file), 'utf8'))
  const documents = Array.isArray(content) ? z.array(z.unknown()).parse(content) : [content]

  test('keeps being read, to the last field', () => {
    for (const document of documents) expect(readVersioned(format, document)).toEqual(document)
  })

  test('with a field that nobody knows is refused', () => {
    for (const document of documents) {
      const strange = { ...z.looseObject({}).parse(document), strange: 1 }
      expect(() => readVersioned(format, strange)).toThrow('strange')
    }
  })
})
