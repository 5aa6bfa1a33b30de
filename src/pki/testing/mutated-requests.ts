import { createPrivateKey, sign } from 'node:crypto'
import { parseElements } from '../der.ts'

const ecdsaWithSha256 = Buffer.from('300a06082a8648ce3d040302', 'hex')
const requestLabel = 'CERTIFICATE REQUEST'

/** For tests: returns the signed part of a certificate request. */
export function readSignedPart(pem: string): Buffer {
  const [frame] = parseElements(Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'))
  const [signed] = parseElements(frame?.content ?? new Uint8Array())
  return Buffer.from(signed?.whole ?? [])
}

/**
 * For tests: builds a request with any content and a valid signature, as an attacker with a key of its own
 * can.
 */
export function signAnything(content: Buffer, privateKey: string): string {
  const signature = sign('sha256', content, createPrivateKey(privateKey))
  const bits = encodeElement(0x03, Buffer.concat([Buffer.of(0), signature]))
  return toPem(encodeElement(0x30, Buffer.concat([content, ecdsaWithSha256, bits])))
}

export function toPem(der: Buffer, label = requestLabel): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

export function encodeElement(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

/**
 * For tests: returns all texts and addresses in a request, without its key. The function walks over all DER
 * elements, so that the result does not depend on the library that the product uses.
 */
export function listRequestedValues(signedPart: Uint8Array): string[] {
  const [frame] = parseElements(signedPart)
  const [, subject, , ...attributes] = parseElements(frame?.content ?? new Uint8Array())
  return [subject, ...attributes].flatMap((element) => (element === undefined ? [] : walk(element.whole)))
}

const containers = new Set([0x30, 0x31, 0xa0, 0xa1, 0xa3, 0xa4])
const objectIdentifier = 0x06

function walk(bytes: Uint8Array): string[] {
  return parseElements(bytes).flatMap(({ tag, content }) => {
    if (containers.has(tag)) return walk(content)
    // An octet string contains an encoded extension.
    if (tag === 0x04 && content[0] === 0x30) return walk(content)
    if (tag === objectIdentifier) return [`oid ${Buffer.from(content).toString('hex')}`]
    if (tag === 0x87) return [`ip ${Buffer.from(content).toString('hex')}`]
    return [`${tag === 0x82 ? 'dns' : 'text'} ${Buffer.from(content).toString('latin1').toLowerCase()}`]
  })
}
