import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { run } from '../kit/command.ts'
import { type Authority, makeAuthority } from './ca.ts'
import { inspectCertificate } from './inspect.ts'
import { day, year } from './lifetime.ts'
import { makeRequest } from './request.ts'
import { signRequest } from './sign.ts'
import type { Wish } from '../contract/certificate-spec.ts'

const now = new Date()
const kubernetes = await makeAuthority('kubernetes', 30 * year, now)
const etcd = await makeAuthority('etcd', 10 * year, now)

const names = { dns: ['cp1', 'localhost'], ip: ['127.0.0.1', 'fd00:0:0::a'] }
const server: Wish = {
  subject: { commonName: 'kube-apiserver', organizations: [] },
  names,
  usages: ['server'],
  lifetime: year,
}
const client: Wish = {
  subject: { commonName: 'system:node:w1', organizations: ['system:nodes', 'a, b=c #d'] },
  names: { dns: [], ip: [] },
  usages: ['client'],
  lifetime: year,
}

interface Issued {
  readonly cert: string
  readonly key: string
}

async function issue(authority: Authority, wish: Wish, at = now): Promise<Issued> {
  const { request, privateKey } = await makeRequest('key', wish.subject, wish.names)
  return { cert: await signRequest(authority, request, wish, at), key: privateKey.revealText() }
}

const [serving, calling] = await Promise.all([issue(kubernetes, server), issue(kubernetes, client)])

test('a certificate says what was wished', () => {
  const authority = inspectCertificate(kubernetes.certificate)
  expect(authority).toMatchObject({ commonName: 'kubernetes-ca', authority: true, usages: [] })
  expect(authority.subjectKeyId).toMatch(/^[0-9a-f]{40}$/)
  expect(inspectCertificate(calling.cert)).toMatchObject({
    ...client.subject,
    names: { dns: [], ip: [] },
    usages: ['client'],
    authority: false,
    authorityKeyId: authority.subjectKeyId,
    serial: expect.stringMatching(/^[4-7][0-9a-f]{31}$/),
  })
  expect(inspectCertificate(serving.cert)).toMatchObject({
    names: { dns: ['cp1', 'localhost'], ip: ['127.0.0.1', 'fd00::a'] },
    usages: ['server'],
  })
})

test('openssl finds it good for what it is for, and for nothing else', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-pki-'))
  try {
    const files = {
      kubernetes: kubernetes.certificate,
      etcd: etcd.certificate,
      serving: serving.cert,
      calling: calling.cert,
    }
    await Promise.all(
      Object.entries(files).map(async ([name, text]) => writeFile(join(directory, name), text)),
    )
    const verify = async (authority: string, purpose: string, certificate: string, ...more: string[]) => {
      const { code } = await run(
        [
          'openssl',
          'verify',
          '-x509_strict',
          '-CAfile',
          authority,
          '-purpose',
          purpose,
          ...more,
          certificate,
        ],
        { cwd: directory, allowFailure: true },
      )
      return code === 0
    }
    expect(await verify('kubernetes', 'sslserver', 'serving', '-verify_ip', 'fd00::a')).toBe(true)
    expect(await verify('kubernetes', 'sslserver', 'serving', '-verify_hostname', 'cp1')).toBe(true)
    expect(await verify('kubernetes', 'sslclient', 'calling')).toBe(true)
    expect(await verify('kubernetes', 'sslserver', 'serving', '-verify_ip', '127.0.0.2')).toBe(false)
    expect(await verify('kubernetes', 'sslclient', 'serving')).toBe(false)
    expect(await verify('kubernetes', 'sslserver', 'calling')).toBe(false)
    expect(await verify('etcd', 'sslserver', 'serving')).toBe(false)
    const { stdout } = await run(['openssl', 'x509', '-noout', '-text', '-in', join(directory, 'serving')])
    expect(stdout).toMatch(/Basic Constraints: critical\s+CA:FALSE/)
    expect(stdout).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/)
  } finally {
    await rm(directory, { recursive: true })
  }
})

interface Side extends Issued {
  readonly ca: string
}

/** Whom the server took the client for, or why it does not trust it. */
async function handshake(serverSide: Side, clientSide: Partial<Side>): Promise<string> {
  const listener = createServer({ ...serverSide, requestCert: true, rejectUnauthorized: false }, (socket) => {
    const { CN: commonName } = socket.getPeerCertificate().subject ?? {}
    socket.end(String(socket.authorized ? commonName : socket.authorizationError))
  })
  listener.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = z.object({ port: z.int() }).parse(listener.address())
  try {
    return await new Promise<string>((resolve, reject) => {
      const socket = connect({ ...clientSide, host: '127.0.0.1', port, servername: 'cp1' })
      let heard = ''
      socket.on('data', (chunk: Buffer) => (heard += chunk.toString()))
      socket.on('error', reject)
      socket.on('close', () => resolve(heard))
    })
  } finally {
    listener.close()
  }
}

test('two who share an authority speak to each other', async () => {
  const ca = kubernetes.certificate
  expect(await handshake({ ...serving, ca }, { ...calling, ca })).toBe('system:node:w1')
})

test('nobody trusts those of another authority, or of another use', async () => {
  const ca = kubernetes.certificate
  const [foreignServer, foreignClient] = await Promise.all([issue(etcd, server), issue(etcd, client)])
  await expect(handshake({ ...foreignServer, ca }, { ...calling, ca })).rejects.toThrow(/unable to/)
  await expect(handshake({ ...calling, ca }, { ...calling, ca })).rejects.toThrow(/purpose/)
  expect(await handshake({ ...serving, ca }, { ...foreignClient, ca })).toMatch(/^UNABLE_TO/)
  expect(await handshake({ ...serving, ca }, { ca })).toMatch(/^UNABLE_TO/)
  expect(await handshake({ ...serving, ca }, { ...serving, ca })).toBe('INVALID_PURPOSE')
})

test('no certificate outlives its authority', async () => {
  const short = await makeAuthority('etcd', 30 * day, now)
  const authority = inspectCertificate(short.certificate)
  const { notBefore, notAfter } = inspectCertificate((await issue(short, client)).cert)
  expect({ notBefore, notAfter }).toEqual({ notBefore: authority.notBefore, notAfter: authority.notAfter })
  const last = inspectCertificate((await issue(short, { ...client, lifetime: day })).cert)
  expect(last.notAfter.getTime() - last.notBefore.getTime()).toBe(day + 5 * 60_000)
})

test.each([
  ['expired', new Date(now.getTime() + 11 * year)],
  ['not yet valid', new Date(now.getTime() - day)],
])('an authority that is %s signs nothing', async (_what, at) => {
  await expect(issue(etcd, client, at)).rejects.toMatchObject({ code: 'PKI_AUTHORITY_NOT_VALID' })
})

test('an authority with a key of another signs nothing', async () => {
  const mixed = { ...etcd, privateKey: kubernetes.privateKey }
  await expect(issue(mixed, client)).rejects.toMatchObject({ code: 'PKI_AUTHORITY_BROKEN' })
})

test.each<[string, Partial<Wish>]>([
  ['no usage', { usages: [] }],
  ['a server without a name', { usages: ['server'] }],
  ['no name', { subject: { commonName: '', organizations: [] } }],
  ['no time', { lifetime: 0 }],
  ['endless time', { lifetime: Number.POSITIVE_INFINITY }],
])('a wish for %s is refused', async (_what, change) => {
  const { request } = await makeRequest('key', client.subject, client.names)
  const signing = signRequest(etcd, request, { ...client, ...change }, now)
  await expect(signing).rejects.toMatchObject({ code: 'PKI_WISH' })
})

test('what is no certificate is told so', () => {
  expect(() => inspectCertificate('nothing')).toThrow(
    expect.objectContaining({ code: 'PKI_CERTIFICATE_NOT_READ' }),
  )
})
