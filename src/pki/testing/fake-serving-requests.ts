import { createPublicKey, type webcrypto } from 'node:crypto'
import { type ServingRequest, servingSigner } from '../check-serving-request.ts'
import { loadSigningKey, makeKeyPair } from '../keys.ts'
import { loadX509, type X509 } from '../x509.ts'

export type FakeName = { readonly type: 'dns' | 'ip' | 'email' | 'url'; readonly value: string }

/** All properties of a fake serving request, with valid or invalid values. */
export interface FakeServingRequest {
  readonly username: string
  readonly groups: readonly string[]
  readonly signer: string
  readonly usages: readonly string[]
  /** Parts of the subject in order. */
  readonly subject: readonly (readonly [type: 'O' | 'CN' | 'OU', value: string])[]
  readonly names: readonly FakeName[]
  readonly extension: 'none' | 'ca' | 'names twice'
  readonly curve: 'P-256' | 'P-384'
  /** True if the request is signed with another key than its own. */
  readonly forged: boolean
  readonly pem: 'one' | 'two' | 'none' | 'cut'
}

export const validServingRequest: FakeServingRequest = {
  username: 'system:node:w1',
  groups: ['system:nodes', 'system:authenticated'],
  signer: servingSigner,
  usages: ['digital signature', 'server auth'],
  subject: [
    ['O', 'system:nodes'],
    ['CN', 'system:node:w1'],
  ],
  names: [
    { type: 'dns', value: 'w1' },
    { type: 'ip', value: '192.168.1.21' },
  ],
  extension: 'none',
  curve: 'P-256',
  forged: false,
  pem: 'one',
}

/**
 * Changes that each make a valid request invalid. Combinations are invalid too, unless the changes cancel
 * each other out.
 */
export const mutations: Readonly<Record<string, (fake: FakeServingRequest) => FakeServingRequest>> = {
  'another node requests': (one) => ({ ...one, username: 'system:node:w2' }),
  'a person requests': (one) => ({ ...one, username: 'jane' }),
  'a node without a name requests': (one) => ({ ...one, username: 'system:node:' }),
  'a pod requests': (one) => ({ ...one, username: 'system:serviceaccount:default:w1' }),
  'the requester is not in the group of nodes': (one) => ({ ...one, groups: ['system:authenticated'] }),
  'the signer is for client certificates': (one) => ({
    ...one,
    signer: 'kubernetes.io/kube-apiserver-client-kubelet',
  }),
  'the signer is another signer': (one) => ({ ...one, signer: 'kubernetes.io/legacy-unknown' }),
  'the common name is another node': (one) => ({
    ...one,
    subject: [...one.subject.slice(0, 1), ['CN', 'system:node:w2']],
  }),
  'no common name': (one) => ({ ...one, subject: one.subject.filter(([type]) => type !== 'CN') }),
  'two common names': (one) => ({ ...one, subject: [...one.subject, ['CN', 'system:node:w2']] }),
  'the same common name twice': (one) => ({ ...one, subject: [...one.subject, ['CN', 'system:node:w1']] }),
  'an additional group system:masters': (one) => ({
    ...one,
    subject: [['O', 'system:masters'], ...one.subject],
  }),
  'no group': (one) => ({ ...one, subject: one.subject.filter(([type]) => type !== 'O') }),
  'another group': (one) => ({
    ...one,
    subject: [
      ['O', 'system:node'],
      ['CN', 'system:node:w1'],
    ],
  }),
  'the same group twice': (one) => ({ ...one, subject: [['O', 'system:nodes'], ...one.subject] }),
  'an organizational unit': (one) => ({ ...one, subject: [...one.subject, ['OU', 'x']] }),
  'an additional usage client auth': (one) => ({ ...one, usages: [...one.usages, 'client auth'] }),
  'the usage client auth instead of server auth': (one) => ({
    ...one,
    usages: ['digital signature', 'client auth'],
  }),
  'an additional usage cert sign': (one) => ({ ...one, usages: [...one.usages, 'cert sign'] }),
  'no usages': (one) => ({ ...one, usages: [] }),
  'the usage server auth twice': (one) => ({ ...one, usages: ['server auth', 'server auth'] }),
  'an additional usage key encipherment': (one) => ({ ...one, usages: [...one.usages, 'key encipherment'] }),
  'an unplanned DNS name': (one) => ({
    ...one,
    names: [...one.names, { type: 'dns', value: 'kubernetes.default.svc' }],
  }),
  'the DNS name of another host': (one) => ({ ...one, names: [...one.names, { type: 'dns', value: 'cp1' }] }),
  'a subdomain of its own name': (one) => ({ ...one, names: [...one.names, { type: 'dns', value: 'x.w1' }] }),
  'a wildcard name': (one) => ({ ...one, names: [...one.names, { type: 'dns', value: '*.example.org' }] }),
  'an unplanned IPv4 address': (one) => ({
    ...one,
    names: [...one.names, { type: 'ip', value: '192.168.1.11' }],
  }),
  'an unplanned IPv6 address': (one) => ({
    ...one,
    names: [...one.names, { type: 'ip', value: 'fd00::11' }],
  }),
  'an IP address as a DNS name': (one) => ({
    ...one,
    names: [...one.names, { type: 'dns', value: '192.168.1.21' }],
  }),
  'an e-mail address': (one) => ({ ...one, names: [...one.names, { type: 'email', value: 'root@w1' }] }),
  'a URI': (one) => ({ ...one, names: [...one.names, { type: 'url', value: 'https://w1/' }] }),
  'no names': (one) => ({ ...one, names: [] }),
  'a CA extension': (one) => ({ ...one, extension: 'ca' }),
  'two name extensions': (one) => ({ ...one, extension: 'names twice' }),
  'another elliptic curve': (one) => ({ ...one, curve: 'P-384' }),
  'a forged signature': (one) => ({ ...one, forged: true }),
  'two requests in one PEM text': (one) => ({ ...one, pem: 'two' }),
  'an empty request': (one) => ({ ...one, pem: 'none' }),
  'a truncated request': (one) => ({ ...one, pem: 'cut' }),
}

/** Applies several mutations in order. Two mutations may cancel each other out. */
export function applyMutations(
  fake: FakeServingRequest,
  mutationNames: readonly string[],
): FakeServingRequest {
  return mutationNames.reduce<FakeServingRequest>((one, mutation) => mutations[mutation]?.(one) ?? one, fake)
}

/** Returns a function that builds serving requests, valid or invalid. */
export async function createRequestBuilder(): Promise<(fake: FakeServingRequest) => Promise<ServingRequest>> {
  const x509 = await loadX509()
  const keys = await keyPairs()
  // Requests are cached, because building a request is slow and most requests are used several times.
  const made = new Map<string, Promise<string>>()
  return async ({ username, groups, signer, usages, pem, ...content }) => {
    const key = JSON.stringify(content)
    const making = made.get(key) ?? encodeRequest(x509, keys, content)
    made.set(key, making)
    const text = await making
    const texts = {
      one: text,
      two: `${text}\n${text}`,
      none: 'no request',
      cut: text.slice(0, text.length / 2),
    }
    return { username, groups, signer, usages, request: texts[pem] }
  }
}

type Keys = Readonly<Record<'P-256' | 'P-384' | 'other', webcrypto.CryptoKeyPair>>

async function keyPairs(): Promise<Keys> {
  const [own, other] = [await makeKeyPair('own'), await makeKeyPair('other')]
  const pair = (made: typeof own): webcrypto.CryptoKeyPair => ({
    privateKey: loadSigningKey(made.privateKey).key,
    publicKey: createPublicKey(made.publicKey).toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'verify',
    ]),
  })
  const longer = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, true, [
    'sign',
    'verify',
  ])
  return { 'P-256': pair(own), 'P-384': longer, other: pair(other) }
}

type Content = Omit<FakeServingRequest, 'username' | 'groups' | 'signer' | 'usages' | 'pem'>

async function encodeRequest(
  x509: X509,
  keys: Keys,
  { subject, names, extension, curve, forged }: Content,
): Promise<string> {
  const alternative = new x509.SubjectAlternativeNameExtension([...names])
  const { privateKey, publicKey } = keys[curve]
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: new x509.Name(subject.map(([type, value]) => ({ [type]: [{ utf8String: value }] }))),
    keys: { privateKey: forged ? keys.other.privateKey : privateKey, publicKey },
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      ...(names.length === 0 ? [] : [alternative]),
      ...(extension === 'names twice' ? [alternative] : []),
      ...(extension === 'ca' ? [new x509.BasicConstraintsExtension(true, 2, true)] : []),
    ],
  })
  return request.toString('pem')
}
