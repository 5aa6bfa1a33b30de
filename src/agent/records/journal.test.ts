import { readFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TemporaryHost, createTemporaryHost } from '../host/testing/temporary-host.ts'
import { someRunId } from '../apply/testing/fixtures.ts'
import { journalPath, openJournal, readJournal } from './journal.ts'

let host: TemporaryHost & AsyncDisposable

beforeEach(async () => {
  host = await createTemporaryHost()
})
afterEach(async () => host[Symbol.asyncDispose]())

const ended = { type: 'run-ended', outcome: 'done' } as const

async function commands(): Promise<string[]> {
  return (await readJournal(host)).map(({ body }) => ('command' in body ? body.command : body.type))
}

test('entries are read in order, and only root can read the journal', async () => {
  const journal = await openJournal(host, someRunId)
  await journal.write({ type: 'run-started', command: 'apply' })
  await journal.write(ended)
  await (await openJournal(host, someRunId)).write({ type: 'run-started', command: 'again' })
  expect(await commands()).toEqual(['apply', 'run-ended', 'again'])
  expect((await host.files.stat(journalPath(host)))?.mode).toBe(0o600)
})

test('a truncated line is skipped, and other lines are read', async () => {
  await (await openJournal(host, someRunId)).write({ type: 'run-started', command: 'first' })
  const file = host.toLocalPath(journalPath(host))
  await writeFile(file, `${await readFile(file, 'utf8')}{"apiVersion":"hyperk`)
  await (await openJournal(host, someRunId)).write({ type: 'run-started', command: 'second' })
  expect(await commands()).toEqual(['first', 'second'])
})

test('the journal is rotated, and four files are kept', async () => {
  for (let number = 1; number <= 6; number++) {
    const journal = await openJournal(host, someRunId, 100)
    await journal.write({ type: 'run-started', command: `run ${number}` })
  }
  expect(await commands()).toEqual(['run 3', 'run 4', 'run 5', 'run 6'])
  const names = (await host.files.list(host.layout.state))?.map(({ name }) => name).toSorted()
  expect(names).toEqual(['journal.1.ndjson', 'journal.2.ndjson', 'journal.3.ndjson', 'journal.ndjson'])
})
