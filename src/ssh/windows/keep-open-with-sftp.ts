import type { Vigil } from '../system-master.ts'
import { packet, requests } from './packet.ts'

/** On Windows no shell is sure to understand anything; its sftp server stays as long as its input does. */
export const sftpVigil: Vigil = {
  words: (name) => ['-s', name, 'sftp'],
  greeting: packet(requests.init, 3),
  // A version, whatever it is: the length, then its type.
  ready: (said) => said.length >= 5,
}
