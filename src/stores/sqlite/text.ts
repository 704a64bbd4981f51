export { fromText, toText } from '../../ports/store/text.ts'
