import { posix } from 'node:path'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/printable.ts'

/** Builds the error of a failed upload from the host's error message. */
export function buildUploadFailedError(host: string, target: string, stderr: string): HyperkubeError {
  const directory = posix.dirname(target)
  const lastLine = toPrintable(stderr.trim().split('\n').at(-1) ?? '')
  if (/No space left on device|Disk quota exceeded/.test(stderr)) {
    return new HyperkubeError('UPLOAD_NO_ROOM', `there is no room for ${target}`, {
      host,
      hint: `make room on the host: df -h ${directory}`,
    })
  }
  const why = lastLine === '' ? 'it ended without a word' : lastLine
  return new HyperkubeError('UPLOAD_FAILED', `${target} could not be written: ${why}`, {
    host,
    hint: `on the host: ls -ld ${directory}`,
  })
}

export function buildDigestMismatchError(
  host: string,
  target: string,
  expected: string,
  found: string,
): HyperkubeError {
  const message = `${target} was not written: its SHA-256 should be ${expected}, and is ${found}`
  return new HyperkubeError('UPLOAD_NOT_WHOLE', message, {
    host,
    hint: 'the file is not the one that is meant; fetch it again, then the same command',
  })
}

export function buildSourceChangedError(host: string, size: number): HyperkubeError {
  const message = `what is sent changed while it was read: it should have had ${size} bytes`
  return new HyperkubeError('UPLOAD_NOT_WHOLE', message, { host, hint: 'run the same command again' })
}
