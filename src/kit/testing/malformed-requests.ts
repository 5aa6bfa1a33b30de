import { connect } from 'node:net'

/** For tests: the seed of the malformed requests. */
export const malformedSeed = 20_261_117

/** A small generator of random numbers (mulberry32), so that a failure can be repeated from its seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'CONNECT', 'get', 'G\u0000T', '', 'PROPFIND']
const targets = [
  '//',
  '///',
  '//[',
  '//@',
  '//a:99999/metrics',
  'http://',
  'http://[',
  'http://a:b:c/',
  '*',
  '',
  '/%',
  '/%ff%00',
  '/metrics?%',
  '/livez/../../..',
  '/livez/__proto__',
  '/readyz/constructor?verbose',
  '/\u0007',
  '\\\\',
  '?',
  '#',
  'javascript:alert(1)',
  `/${'a/'.repeat(2000)}`,
]
const versions = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', 'HTTP', '']
const headers = [
  'Host: a',
  'Host: [',
  'Host:',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Expect: 100-continue',
  'Expect: nonsense',
  'Upgrade: websocket\r\nConnection: Upgrade',
  ': no name',
  'no colon',
  `X: ${'y'.repeat(20_000)}`,
]

/** For tests: malformed and unusual HTTP requests, the same ones for each seed. */
export function* createMalformedRequests(count: number, seed = malformedSeed): Generator<Buffer> {
  const random = createRandom(seed)
  const pick = (from: readonly string[]): string => from[random(from.length)] ?? ''
  for (let number = 0; number < count; number++) {
    const lines = [
      `${pick(methods)} ${pick(targets)} ${pick(versions)}`,
      ...Array.from({ length: random(4) }, () => pick(headers)),
    ]
    const text = `${lines.join('\r\n')}\r\n\r\n${random(3) === 0 ? 'zz\r\nbody' : ''}`
    const bytes = Buffer.from(text, 'latin1')
    if (random(4) === 0) bytes[random(bytes.length)] = random(256)
    yield random(8) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes
  }
}

/** For tests: sends each request over its own connection and waits until the server has closed it. */
export async function sendMalformedRequests(port: number, requests: Iterable<Buffer>): Promise<void> {
  const iterator = requests[Symbol.iterator]()
  const sendAll = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await send(port, next.value)
  }
  await Promise.all(Array.from({ length: 16 }, sendAll))
}

async function send(port: number, request: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(request))
    socket.resume()
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}
