export { Board as Overview } from './board.tsx'
