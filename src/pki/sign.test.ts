import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { runProgram } from '../kit/command.ts'
import { type Ca, createCa } from './ca.ts'
import { inspectCertificate } from './certificates.ts'
import { day, year } from './lifetime.ts'
import { makeRequest } from './request.ts'
import { signRequest } from './sign.ts'
import type { CertificateSpec } from '../contract/certificate-spec.ts'

const now = new Date()
const kubernetes = await createCa('kubernetes', 30 * year, now)
const etcd = await createCa('etcd', 10 * year, now)

const names = { dns: ['cp1', 'localhost'], ip: ['127.0.0.1', 'fd00:0:0::a'] }
const server: CertificateSpec = {
  subject: { commonName: 'kube-apiserver', organizations: [] },
  names,
  usages: ['server'],
  lifetime: year,
}
const client: CertificateSpec = {
  subject: { commonName: 'system:node:w1', organizations: ['system:nodes', 'a, b=c #d'] },
  names: { dns: [], ip: [] },
  usages: ['client'],
  lifetime: year,
}

interface Issued {
  readonly cert: string
  readonly key: string
}

async function issue(ca: Ca, spec: CertificateSpec, at = now): Promise<Issued> {
  const { request, privateKey } = await makeRequest('key', spec.subject, spec.names)
  return { cert: await signRequest(ca, request, spec, at), key: privateKey.revealText() }
}

const [serving, calling] = await Promise.all([issue(kubernetes, server), issue(kubernetes, client)])

test('a certificate has the content of its spec', () => {
  const ca = inspectCertificate(kubernetes.certificate)
  expect(ca).toMatchObject({ commonName: 'kubernetes-ca', isCa: true, usages: [] })
  expect(ca.subjectKeyId).toMatch(/^[0-9a-f]{40}$/)
  expect(inspectCertificate(calling.cert)).toMatchObject({
    ...client.subject,
    names: { dns: [], ip: [] },
    usages: ['client'],
    isCa: false,
    issuerKeyId: ca.subjectKeyId,
    serial: expect.stringMatching(/^[4-7][0-9a-f]{31}$/),
  })
  expect(inspectCertificate(serving.cert)).toMatchObject({
    names: { dns: ['cp1', 'localhost'], ip: ['127.0.0.1', 'fd00::a'] },
    usages: ['server'],
  })
})

test('openssl accepts a certificate only for its own usage, names and CA', async () => {
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
    const verify = async (ca: string, purpose: string, certificate: string, ...more: string[]) => {
      const { code } = await runProgram(
        ['openssl', 'verify', '-x509_strict', '-CAfile', ca, '-purpose', purpose, ...more, certificate],
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
    const { stdout } = await runProgram([
      'openssl',
      'x509',
      '-noout',
      '-text',
      '-in',
      join(directory, 'serving'),
    ])
    expect(stdout).toMatch(/Basic Constraints: critical\s+CA:FALSE/)
    expect(stdout).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/)
  } finally {
    await rm(directory, { recursive: true })
  }
})

interface Side extends Issued {
  readonly ca: string
}

/** Returns the client's common name if the server trusts its certificate, or else the server's error. */
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
      let received = ''
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
      socket.on('error', reject)
      socket.on('close', () => resolve(received))
    })
  } finally {
    listener.close()
  }
}

test('client and server of the same CA connect', async () => {
  const ca = kubernetes.certificate
  expect(await handshake({ ...serving, ca }, { ...calling, ca })).toBe('system:node:w1')
})

test('certificates of another CA or for another usage are not trusted', async () => {
  const ca = kubernetes.certificate
  const [foreignServer, foreignClient] = await Promise.all([issue(etcd, server), issue(etcd, client)])
  await expect(handshake({ ...foreignServer, ca }, { ...calling, ca })).rejects.toThrow(/unable to/)
  await expect(handshake({ ...calling, ca }, { ...calling, ca })).rejects.toThrow(/purpose/)
  expect(await handshake({ ...serving, ca }, { ...foreignClient, ca })).toMatch(/^UNABLE_TO/)
  expect(await handshake({ ...serving, ca }, { ca })).toMatch(/^UNABLE_TO/)
  expect(await handshake({ ...serving, ca }, { ...serving, ca })).toBe('INVALID_PURPOSE')
})

test('no certificate outlives its CA', async () => {
  const short = await createCa('etcd', 30 * day, now)
  const ca = inspectCertificate(short.certificate)
  const { notBefore, notAfter } = inspectCertificate((await issue(short, client)).cert)
  expect({ notBefore, notAfter }).toEqual({ notBefore: ca.notBefore, notAfter: ca.notAfter })
  const last = inspectCertificate((await issue(short, { ...client, lifetime: day })).cert)
  expect(last.notAfter.getTime() - last.notBefore.getTime()).toBe(day + 5 * 60_000)
})

test.each([
  ['expired', new Date(now.getTime() + 11 * year)],
  ['not yet valid', new Date(now.getTime() - day)],
])('a CA that is %s signs nothing', async (_what, at) => {
  await expect(issue(etcd, client, at)).rejects.toMatchObject({ code: 'PKI_CA_NOT_VALID' })
})

test('a CA certificate with the private key of another CA signs nothing', async () => {
  const mixed = { ...etcd, privateKey: kubernetes.privateKey }
  await expect(issue(mixed, client)).rejects.toMatchObject({ code: 'PKI_CA_BROKEN' })
})

test.each<[string, Partial<CertificateSpec>]>([
  ['no usage', { usages: [] }],
  ['a server without a name', { usages: ['server'] }],
  ['no common name', { subject: { commonName: '', organizations: [] } }],
  ['no lifetime', { lifetime: 0 }],
  ['an infinite lifetime', { lifetime: Number.POSITIVE_INFINITY }],
])('a spec with %s is refused', async (_what, change) => {
  const { request } = await makeRequest('key', client.subject, client.names)
  const signing = signRequest(etcd, request, { ...client, ...change }, now)
  await expect(signing).rejects.toMatchObject({ code: 'PKI_INVALID_SPEC' })
})

test('text that is not a certificate is reported', () => {
  expect(() => inspectCertificate('nothing')).toThrow(
    expect.objectContaining({ code: 'PKI_CERTIFICATE_NOT_READ' }),
  )
})
