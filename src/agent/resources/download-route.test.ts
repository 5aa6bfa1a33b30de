import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PlannedFile } from '../../contract/component-plan.ts'
import type { DownloadSettings } from '../../contract/download-settings.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import { Secret } from '../../pki/secret.ts'
import { buildPlanWithHost } from '../apply/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { resolveDownloadRoute } from './download-route.ts'

const loginPath = '/etc/hyperkube/agent/proxy-login'
const settings: DownloadSettings = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'DownloadSettings',
  proxy: { https: 'http://proxy.example:3128', no: ['.corp.example'], login: true },
  servers: [{ host: 'mirror.example', ca: 'PEM' }],
}
const common = { owner: 'root', mode: '0600', restart: false }
const settingsFile: PlannedFile = {
  ...common,
  path: '/etc/hyperkube/agent/downloads.json',
  content: { kind: 'text', text: JSON.stringify(settings) },
}
const loginFile: PlannedFile = {
  ...common,
  path: loginPath,
  content: { kind: 'secret', secret: 'proxy-login', tag: 'tag' },
}
const login = JSON.stringify({ username: 'me', password: 'a:b@c' })
const route = {
  proxy: { http: undefined, https: 'http://me:a%3Ab%40c@proxy.example:3128', no: ['.corp.example'] },
  ca: undefined,
  servers: settings.servers,
}

let host: TemporaryHost & AsyncDisposable
beforeEach(async () => {
  host = await createTemporaryHost()
})
afterEach(async () => host[Symbol.asyncDispose]())

function buildPlan(...files: readonly PlannedFile[]) {
  return buildPlanWithHost(buildComponent({ name: 'hyperkube-agent', stage: 'prepare', files: [...files] }))
}

test('a plan without download settings connects directly', async () => {
  expect(await resolveDownloadRoute({ host, plan: buildPlan(), secrets: new Map() })).toEqual({})
})

test('the login comes from the secrets of the run, before its file exists', async () => {
  const secrets = new Map([['proxy-login', new Secret('proxy login', login)]])
  const plan = buildPlan(settingsFile, loginFile)
  expect(await resolveDownloadRoute({ host, plan, secrets })).toEqual(route)
})

test('healing has no secrets and reads the login from the host', async () => {
  const plan = buildPlan(settingsFile, loginFile)
  const resolve = async () => resolveDownloadRoute({ host, plan, secrets: new Map() })
  await expect(resolve()).rejects.toMatchObject({ code: 'APPLY_NO_SECRET', hint: 'hyperkube up' })
  await mkdir(dirname(host.toLocalPath(loginPath)), { recursive: true })
  await writeFile(host.toLocalPath(loginPath), login)
  expect(await resolve()).toEqual(route)
})
